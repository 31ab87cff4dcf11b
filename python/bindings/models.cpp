#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "bindings.h"

namespace nb = nanobind;
using tenon::Model;
using tenon::Options;
using tenon::Run;
using tenon::Session;
using tenon::Value;

namespace {

using Settings = std::map<std::string, std::string>;

Options make_options(const Settings& settings) {
  Options options;
  for (const auto& [key, value] : settings) options.set(key, value);
  return options;
}

// A model, and the memory of files it was given.
struct LoadedModel {
  Model model;
  std::vector<nb::bytes> files;
};

void add_files(Options& options, const std::map<std::string, nb::bytes>& files, std::vector<nb::bytes>& keep) {
  for (const auto& [name, bytes] : files) {
    options.add_file(name, {bytes.c_str(), bytes.size()});
    keep.push_back(bytes);
  }
}

std::vector<std::optional<Value>> run(const Session& session, const std::vector<const Value*>& inputs,
                                      const std::vector<const Value*>& outputs, const std::vector<bool>& wanted,
                                      Run* run) {
  std::vector<Value> in, out;
  for (const Value* v : inputs) in.push_back(v ? *v : Value());
  for (const Value* v : outputs) out.push_back(v ? *v : Value());
  std::vector<unsigned char> flags(wanted.begin(), wanted.end());
  {
    nb::gil_scoped_release no_gil;
    session.run(in, out, run, flags.empty() ? nullptr : flags.data());
  }
  std::vector<std::optional<Value>> results;
  for (Value& v : out) results.push_back(v ? std::optional(std::move(v)) : std::nullopt);
  return results;
}

}  // namespace

void bind_models(nb::module_& m) {
  nb::class_<LoadedModel>(m, "Model")
      .def_static(
          "load_file",
          [](const std::string& path, const Settings& settings, const std::map<std::string, nb::bytes>& files) {
            Options options = make_options(settings);
            std::vector<nb::bytes> keep;
            add_files(options, files, keep);
            return LoadedModel{Model::load(path, options), std::move(keep)};
          },
          nb::arg("path"), nb::arg("options") = Settings{}, nb::arg("files") = std::map<std::string, nb::bytes>{})
      .def_static(
          "load_memory",
          [](const nb::bytes& data, const Settings& settings, const std::map<std::string, nb::bytes>& files) {
            Options options = make_options(settings);
            std::vector<nb::bytes> keep;
            add_files(options, files, keep);
            return LoadedModel{Model::from_memory({data.c_str(), data.size()}, options), std::move(keep)};
          },
          nb::arg("data"), nb::arg("options") = Settings{}, nb::arg("files") = std::map<std::string, nb::bytes>{})
      .def("save", [](const LoadedModel& l, const std::string& path) { l.model.save(path); })
      .def("to_bytes",
           [](const LoadedModel& l) {
             const std::string bytes = l.model.to_memory();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("describe", [](const LoadedModel& l, const std::string& sections) { return l.model.describe(sections); })
      .def("property", [](const LoadedModel& l, const std::string& name) { return l.model.property(name); })
      .def_prop_ro("metadata", [](const LoadedModel& l) { return l.model.metadata(); })
      .def_prop_ro("warnings", [](const LoadedModel& l) { return l.model.warnings(); });

  nb::class_<Run>(m, "Run")
      .def(nb::init<>())
      .def("cancel", &Run::cancel)
      .def("reset", &Run::reset)
      .def("enable_profile", &Run::enable_profile, nb::arg("enable") = true)
      .def("profile_json", &Run::profile_json);

  nb::class_<Session>(m, "Session")
      .def_static(
          "create",
          [](const LoadedModel& l, const Settings& settings, const std::map<std::string, Value>& weights) {
            Options options = make_options(settings);
            for (const auto& [name, value] : weights) options.set_weight(name, value);
            nb::gil_scoped_release no_gil;
            return Session(l.model, options);
          },
          nb::arg("model"), nb::arg("options") = Settings{}, nb::arg("weights") = std::map<std::string, Value>{},
          nb::keep_alive<0, 1>())
      .def_prop_ro("input_count", &Session::input_count)
      .def("input_name", &Session::input_name)
      .def("input_type", &Session::input_type, nb::keep_alive<0, 1>())
      .def("input_has_default", &Session::input_has_default)
      .def_prop_ro("output_count", &Session::output_count)
      .def("output_name", &Session::output_name)
      .def("output_type", &Session::output_type, nb::keep_alive<0, 1>())
      .def("run", &run, nb::arg("inputs"), nb::arg("outputs"), nb::arg("wanted") = std::vector<bool>{},
           nb::arg("run").none() = nullptr);
}
