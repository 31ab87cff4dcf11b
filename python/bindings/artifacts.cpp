// Compiled models and new weights for sessions. Every call of the library is made without Python's lock: it may take
// long, or wait for another thread's swap.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
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

nb::list decoded_list(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(decoded(text));
  return list;
}

// An artifact, and the bytes of files that its models were given.
struct HeldArtifact {
  Artifact artifact;
  std::vector<nb::object> files;
};

// context: its settings; without any the artifact is made in the default one.
HeldArtifact compile(const std::vector<std::string>& names, const std::vector<const LoadedModel*>& models,
                     const Settings& settings, const Settings& context) {
  if (names.size() != models.size()) throw tenon::Error(TN_INVALID_ARGUMENT, "every model needs a name");
  std::vector<std::pair<std::string, const tenon::Model*>> named;
  std::vector<nb::object> files;
  for (size_t i = 0; i < models.size(); ++i) {
    named.emplace_back(names[i], &models[i]->model);
    files.insert(files.end(), models[i]->files.begin(), models[i]->files.end());
  }
  const auto options = to_options(settings);
  std::optional<tenon::Context> own;
  if (!context.empty()) own.emplace(to_options(context));
  return {alone([&] { return Artifact::compile(named, options, own ? &*own : nullptr); }), std::move(files)};
}

HeldArtifact load(const std::vector<std::string>& paths, const Settings& settings) {
  const auto options = to_options(settings);
  return {alone([&] { return Artifact::load(paths, options); }), {}};
}

HeldArtifact load_memory(const nb::bytes& data, const std::string& folder, const Settings& settings) {
  const auto options = to_options(settings);
  const std::string_view bytes(data.c_str(), data.size());
  return {alone([&] { return Artifact::from_memory(bytes, folder, options); }), {}};
}

std::pair<HeldArtifact, std::string> bake(const HeldArtifact& a, const Source& source, const Settings& settings) {
  const auto options = to_options(settings);
  std::string report;
  auto baked = alone([&] { return a.artifact.bake(source, options, &report); });
  return {HeldArtifact{std::move(baked), a.files}, std::move(report)};
}

HeldArtifact strip(const HeldArtifact& a) {
  return {alone([&] { return a.artifact.strip(); }), a.files};
}

void save(const HeldArtifact& a, const std::string& folder, const std::vector<std::string>& names,
          const Settings& settings) {
  const auto options = to_options(settings);
  alone([&] { a.artifact.save(folder, names, options); });
}

NamedSession session(const HeldArtifact& a, size_t model, const Settings& settings) {
  const auto options = to_options(settings);
  return NamedSession(alone([&] { return a.artifact.session(model, options); }), a.files);
}

std::string set_weights(const std::vector<NamedSession*>& sessions, const Source& source, const Settings& settings) {
  std::vector<tenon::Session*> all;
  for (NamedSession* session : sessions) all.push_back(&session->session);
  const auto options = to_options(settings);
  return alone([&] { return tenon::set_weights(all, source, options); });
}

void use_weights(const std::vector<NamedSession*>& sessions, const std::vector<Weights>& weights) {
  std::vector<tenon::Session*> all;
  for (NamedSession* session : sessions) all.push_back(&session->session);
  alone([&] { tenon::use_weights(all, weights); });
}

std::string compile_key(const LoadedModel& loaded, const Settings& settings) {
  const auto options = to_options(settings);
  return alone([&] { return tenon::compile_key(loaded.model, options); });
}

void bind_weights(nb::module_& m) {
  nb::class_<Source>(m, "Source")
      .def(nb::init<>())
      .def_static("open", [](const std::string& path) { return alone([&] { return Source::open(path); }); })
      .def("add", [](Source& s, const std::string& name, const Value& value) { s.add(name, value); })
      .def("names", [](const Source& s) { return decoded_list(s.names()); });
  nb::class_<Weights>(m, "Weights");
  m.def("set_weights", &set_weights, nb::arg("sessions"), nb::arg("source"), nb::arg("options"));
  m.def("session_weights", [](const NamedSession& s) { return alone([&] { return s.session.weights(); }); });
  m.def("use_weights", &use_weights, nb::arg("sessions"), nb::arg("weights"));
}

// What people should know while files are written, as Python says such things.
void warn(const std::string& text) {
  if (!Py_IsInitialized()) return;
  const nb::gil_scoped_acquire gil;
  // Where warnings are errors, this one cannot end a call of another language.
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) PyErr_WriteUnraisable(nullptr);
}

}  // namespace

void bind_artifacts(nb::module_& m) {
  bind_weights(m);
  tenon::set_message_handler(&warn);
  nb::class_<HeldArtifact>(m, "Artifact")
      .def_static("compile", &compile, nb::arg("names"), nb::arg("models"), nb::arg("options"), nb::arg("context"))
      .def_static("load", &load, nb::arg("paths"), nb::arg("options"))
      .def_static("load_memory", &load_memory, nb::arg("data"), nb::arg("folder"), nb::arg("options"))
      .def("models", [](const HeldArtifact& a) { return decoded_list(a.artifact.models()); })
      .def("describe", [](const HeldArtifact& a,
                          const std::string& sections) { return alone([&] { return a.artifact.describe(sections); }); })
      .def("verify", [](const HeldArtifact& a) { return alone([&] { return a.artifact.verify(); }); })
      .def("bake", &bake)
      .def("strip", &strip)
      .def("export_sources",
           [](const HeldArtifact& a, const std::string& path) { alone([&] { a.artifact.export_sources(path); }); })
      .def("save", &save)
      .def("session", &session)
      .def("weights",
           [](const HeldArtifact& a, size_t model) { return alone([&] { return a.artifact.weights(model); }); });
  m.def("compile_key", &compile_key);
  m.def("is_context_file", [](const std::string& path) { return alone([&] { return tenon::is_context_file(path); }); });
  m.def("describe_context_file",
        [](const std::string& path) { return alone([&] { return tenon::describe_context_file(path); }); });
}
