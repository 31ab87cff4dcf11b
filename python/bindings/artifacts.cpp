// Compiled models and new weights for sessions.
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "named_session.h"

namespace nb = nanobind;
using tenon::Artifact;
using tenon::Source;
using tenon::Value;
using tenon::Weights;

namespace {

using Settings = std::map<std::string, std::string>;

tenon::Options to_options(const Settings& settings) {
  tenon::Options options;
  for (const auto& [key, value] : settings) options.set(key, value);
  return options;
}

// Runs without holding Python's lock.
template <class F>
auto alone(F&& f) {
  nb::gil_scoped_release no_gil;
  return f();
}

// An artifact, and the bytes of files that its models were given.
struct HeldArtifact {
  Artifact artifact;
  std::vector<nb::bytes> files;
};

HeldArtifact compile(const std::vector<std::string>& names, const std::vector<const LoadedModel*>& models,
                     const Settings& settings) {
  std::vector<std::pair<std::string, const tenon::Model*>> named;
  std::vector<nb::bytes> files;
  for (size_t i = 0; i < models.size(); ++i) {
    named.emplace_back(names.at(i), &models[i]->model);
    files.insert(files.end(), models[i]->files.begin(), models[i]->files.end());
  }
  const auto options = to_options(settings);
  return {alone([&] { return Artifact::compile(named, options); }), std::move(files)};
}

std::string set_weights(const std::vector<NamedSession*>& sessions, const Source& source, const Settings& settings) {
  std::vector<tenon::Session*> all;
  for (NamedSession* session : sessions) all.push_back(&session->session);
  const auto options = to_options(settings);
  return alone([&] { return tenon::set_weights(all, source, options); });
}

}  // namespace

void bind_artifacts(nb::module_& m) {
  nb::class_<Source>(m, "Source")
      .def(nb::init<>())
      .def_static("open", [](const std::string& path) { return alone([&] { return Source::open(path); }); })
      .def("add", [](Source& s, const std::string& name, const Value& value) { s.add(name, value); })
      .def("names", &Source::names);
  nb::class_<Weights>(m, "Weights");
  nb::class_<HeldArtifact>(m, "Artifact")
      .def_static("compile", &compile)
      .def_static("load",
                  [](const std::vector<std::string>& paths, const Settings& settings) {
                    const auto options = to_options(settings);
                    return HeldArtifact{alone([&] { return Artifact::load(paths, options); }), {}};
                  })
      .def("models", [](const HeldArtifact& a) { return a.artifact.models(); })
      .def("describe", [](const HeldArtifact& a, const std::string& sections) { return a.artifact.describe(sections); })
      .def("verify", [](const HeldArtifact& a) { return alone([&] { return a.artifact.verify(); }); })
      .def("bake",
           [](const HeldArtifact& a, const Source& source, const Settings& settings) {
             const auto options = to_options(settings);
             std::string report;
             auto baked = alone([&] { return a.artifact.bake(source, options, &report); });
             return std::pair(HeldArtifact{std::move(baked), a.files}, report);
           })
      .def("strip", [](const HeldArtifact& a) { return HeldArtifact{a.artifact.strip(), a.files}; })
      .def("export_sources",
           [](const HeldArtifact& a, const std::string& path) { alone([&] { a.artifact.export_sources(path); }); })
      .def("save",
           [](const HeldArtifact& a, const std::string& folder, const std::vector<std::string>& names,
              const Settings& settings) {
             const auto options = to_options(settings);
             alone([&] { a.artifact.save(folder, names, options); });
           })
      .def("session",
           [](const HeldArtifact& a, size_t model, const Settings& settings) {
             const auto options = to_options(settings);
             return NamedSession(alone([&] { return a.artifact.session(model, options); }), a.files);
           })
      .def("weights",
           [](const HeldArtifact& a, size_t model) { return alone([&] { return a.artifact.weights(model); }); });
  m.def("set_weights", &set_weights, nb::arg("sessions"), nb::arg("source"), nb::arg("options"));
  m.def("session_weights", [](const NamedSession& s) { return s.session.weights(); });
  m.def("use_weights", [](NamedSession& s, const Weights& weights) { s.session.use_weights(weights); });
  m.def("compile_key", [](const LoadedModel& loaded, const Settings& settings) {
    const auto options = to_options(settings);
    char* key = nullptr;
    tenon::detail::check(tn_compile_key(loaded.model.get(), options.get(), &key));
    return tenon::detail::take_text(key);
  });
}
