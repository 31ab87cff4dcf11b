#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "bindings.h"

namespace nb = nanobind;
using tenon::Model;
using tenon::Options;
using tenon::Value;

namespace {

using Settings = std::map<std::string, std::string>;
using Files = std::map<std::string, nb::object>;  // with the buffer protocol
using Weights = std::map<std::string, Value>;

// The bytes of an object with the buffer protocol. The view keeps them where they are.
std::string_view bytes_of(const nb::object& view) {
  const Py_buffer* buffer = PyMemoryView_GET_BUFFER(view.ptr());
  if (!PyBuffer_IsContiguous(buffer, 'C')) throw nb::value_error("the buffer of a file must be contiguous");
  return {static_cast<const char*>(buffer->buf), static_cast<size_t>(buffer->len)};
}

template <class Load>
LoadedModel load(const Settings& settings, const Files& files, const Weights& weights, Load&& read) {
  Options options;
  std::vector<nb::object> keep;
  for (const auto& [key, value] : settings) options.set(key, value);
  for (const auto& [name, value] : weights) options.set_weight(name, value);
  for (const auto& [name, buffer] : files) {
    nb::object view = nb::steal(PyMemoryView_FromObject(buffer.ptr()));
    if (!view.is_valid()) throw nb::python_error();
    options.add_file(name, bytes_of(view));
    keep.push_back(std::move(view));
  }
  return LoadedModel{alone([&] { return read(options); }), std::move(keep)};
}

void add_dim_names(const tenon::TypeView& type, nb::set& names) {
  if (const auto element = type.element()) add_dim_names(*element, names);
  const auto dims = type.dims();
  for (size_t i = 0; dims && i < dims->size(); ++i)
    if (!type.dim_name(i).empty()) names.add(decoded(type.dim_name(i)));
}

// The names that the model gives extents of its inputs.
nb::set dim_names(const LoadedModel& loaded) {
  nb::set names;
  for (size_t i = 0; i < loaded.model.input_count(); ++i) add_dim_names(loaded.model.input_type(i), names);
  return names;
}

Options options_of(const Settings& settings) {
  Options options;
  for (const auto& [key, value] : settings) options.set(key, value);
  return options;
}

}  // namespace

void bind_models(nb::module_& m) {
  nb::class_<LoadedModel>(m, "Model")
      .def_static(
          "load_file",
          [](const std::string& path, const Settings& settings, const Files& files, const Weights& weights) {
            return load(settings, files, weights, [&](const Options& options) { return Model::load(path, options); });
          },
          nb::arg("path"), nb::arg("options") = Settings{}, nb::arg("files") = Files{}, nb::arg("weights") = Weights{})
      .def_static(
          "load_memory",
          [](const nb::bytes& data, const Settings& settings, const Files& files, const Weights& weights) {
            const std::string_view bytes(data.c_str(), data.size());
            return load(settings, files, weights,
                        [&](const Options& options) { return Model::from_memory(bytes, options); });
          },
          nb::arg("data"), nb::arg("options") = Settings{}, nb::arg("files") = Files{}, nb::arg("weights") = Weights{})
      .def("save", [](const LoadedModel& l, const std::string& path) { alone([&] { l.model.save(path); }); })
      .def("to_bytes",
           [](const LoadedModel& l) {
             const std::string bytes = alone([&] { return l.model.to_memory(); });
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("respelled",
           [](const LoadedModel& l) {
             const auto respelled = alone([&] { return tenon::respelled(l.model); });
             return nb::make_tuple(nb::bytes(respelled.model.data(), respelled.model.size()), respelled.report);
           })
      .def("optimized",
           [](const LoadedModel& l, const Settings& settings) {
             const Options options = options_of(settings);
             const auto optimized = alone([&] { return tenon::optimize(l.model, options); });
             return nb::make_tuple(nb::bytes(optimized.model.data(), optimized.model.size()), optimized.report);
           })
      .def("save_optimized",
           [](const LoadedModel& l, const std::string& path, const Settings& settings) {
             const Options options = options_of(settings);
             return alone([&] { return tenon::save_optimized(l.model, path, options); });
           })
      .def("analyze",
           [](const LoadedModel& l, const Settings& settings) {
             const Options options = options_of(settings);
             return alone([&] { return tenon::analyze(l.model, options); });
           })
      .def("describe", [](const LoadedModel& l,
                          const std::string& sections) { return alone([&] { return l.model.describe(sections); }); })
      .def("property", [](const LoadedModel& l, const std::string& name) { return decoded(l.model.property(name)); })
      .def_prop_ro("metadata",
                   [](const LoadedModel& l) {
                     nb::dict entries;
                     for (const auto& [key, value] : l.model.metadata()) entries[decoded(key)] = decoded(value);
                     return entries;
                   })
      .def_prop_ro("warnings",
                   [](const LoadedModel& l) {
                     nb::list messages;
                     for (const std::string& message : l.model.warnings()) messages.append(decoded(message));
                     return messages;
                   })
      .def_prop_ro("dim_names", &dim_names);
  m.def("optimize_file", [](const std::string& input, const std::string& output, const Settings& settings) {
    const Options options = options_of(settings);
    return alone([&] { return tenon::optimize_file(input, output, options); });
  });
  m.def("analysis_html",
        [](const std::string& analyses) { return alone([&] { return tenon::analysis_html(analyses); }); });
  m.def("choose_capabilities", [](const Settings& settings) {
    const Options options = options_of(settings);
    return alone([&] { return tenon::choose_capabilities(options); });
  });
  m.def("capabilities_json", [] { return alone([] { return tenon::capabilities_json(); }); });
}
