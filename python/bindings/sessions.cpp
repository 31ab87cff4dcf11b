#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <map>

#include "named_session.h"

namespace nb = nanobind;
using tenon::Run;
using tenon::Session;
using tenon::Value;

namespace {

// The same elements without ownership: results of a run never share memory that is only lent.
Value lent(const Value& value) {
  if (value.kind() != TN_KIND_TENSOR || value.dtype() == TN_STRING) return value;
  return Value::borrow(value.dtype(), value.dims(), value.raw(), static_cast<size_t>(value.bytes()));
}

class Feed {
 public:
  Feed(const NamedSession& session, const nb::dict& feed)
      : values_(session.session.input_count()), lent_(session.session.input_count()) {
    size_t required = 0;
    for (auto [name, item] : feed) {
      PyObject* position = PyDict_GetItemWithError(session.index.ptr(), name.ptr());
      if (!position) explain(session, feed);
      const size_t i = PyLong_AsSize_t(position);
      required += !session.session.input_has_default(i);
      add(session.session, i, item);
    }
    if (required != session.required) explain(session, feed);
  }
  const std::vector<Value>& values() const { return values_; }

 private:
  [[noreturn]] static void explain(const NamedSession& session, const nb::dict& feed) {
    PyErr_Clear();
    nb::handle(package().explain_names)(feed, nb::cast(&session, nb::rv_policy::reference));
    throw tenon::Error(TN_INVALID_ARGUMENT, "the names in the feed do not match the names of the inputs");
  }

  void add(const Session& session, size_t i, nb::handle item) {
    if (tn_value* value = lent_[i].lend(item)) {
      values_[i] = Value(value);
      return;
    }
    objects_.push_back(
        nb::handle(package().value_from)(decoded(session.input_name(i)), item, nb::cast(session.input_type(i))));
    values_[i] = lent(nb::cast<const Value&>(objects_.back()));
  }

  std::vector<Value> values_;
  std::vector<LentArray> lent_;
  std::vector<nb::object> objects_;  // own what values_ borrow
};

nb::object to_object(Value value) {
  if (!value) return nb::none();
  const bool is_array = value.kind() == TN_KIND_TENSOR && package().dtypes[value.dtype()];
  nb::object object = nb::cast(std::move(value));
  return is_array ? array_over(object, nb::cast<const Value&>(object)) : nb::handle(package().object_from)(object);
}

// chosen: positions of the outputs to return, or None for all. An output that is chosen twice is one object.
nb::list run_feed(const NamedSession& session, const nb::dict& feed, const std::optional<std::vector<size_t>>& chosen,
                  Run* run) {
  Feed inputs(session, feed);
  const size_t count = session.session.output_count();
  std::vector<Value> outputs(count);
  std::vector<unsigned char> wanted(count, !chosen);
  if (chosen)
    for (size_t i : *chosen) wanted.at(i) = 1;
  alone([&] { session.session.run(inputs.values(), outputs, run ? run : plain_run(), wanted.data()); });
  nb::list results;
  if (!chosen) {
    for (Value& v : outputs) results.append(to_object(std::move(v)));
    return results;
  }
  std::vector<nb::object> made(count);
  for (size_t i : *chosen) {
    if (!made[i].is_valid()) made[i] = to_object(std::move(outputs[i]));
    results.append(made[i]);
  }
  return results;
}

bool overlap(const Value& a, const Value& b) {
  const auto* x = static_cast<const char*>(a.raw());
  const auto* y = static_cast<const char*>(b.raw());
  return x && y && x < y + b.bytes() && y < x + a.bytes();
}

// Values in, values out. Outputs that are given are written in place; one whose memory an input or another output also
// uses is computed elsewhere first.
std::vector<std::optional<Value>> run_values(const NamedSession& session, const std::vector<const Value*>& inputs,
                                             const std::vector<const Value*>& outputs, const std::vector<bool>& wanted,
                                             Run* run) {
  std::vector<Value> in, out;
  for (const Value* v : inputs) in.push_back(v ? lent(*v) : Value());
  std::vector<bool> shared(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) {
      for (const Value& v : in) shared[i] = shared[i] || (v && overlap(v, *outputs[i]));
      for (size_t j = 0; j < i; ++j) shared[i] = shared[i] || (outputs[j] && overlap(*outputs[j], *outputs[i]));
    }
    out.push_back(outputs[i] && !shared[i] ? *outputs[i] : Value());
  }
  std::vector<unsigned char> flags(wanted.begin(), wanted.end());
  alone([&] { session.session.run(in, out, run ? run : plain_run(), flags.empty() ? nullptr : flags.data()); });
  std::vector<std::optional<Value>> results;
  for (size_t i = 0; i < out.size(); ++i) {
    if (shared[i] && out[i]) {
      if (out[i].dtype() != outputs[i]->dtype() || out[i].dims() != outputs[i]->dims())
        throw tenon::Error(TN_INVALID_ARGUMENT, "output '" + session.session.output_name(i) + "' is " +
                                                    out[i].type_text() + ", but the buffer given for it is " +
                                                    outputs[i]->type_text());
      std::memcpy(outputs[i]->raw(), out[i].raw(), static_cast<size_t>(out[i].bytes()));
      out[i] = *outputs[i];
    }
    results.push_back(out[i] ? std::optional(std::move(out[i])) : std::nullopt);
  }
  return results;
}

}  // namespace

void bind_sessions(nb::module_& m) {
  nb::class_<Run>(m, "Run")
      .def("__init__",
           [](Run* run) {
             new (run) Run();
             ask_for_signals(*run);
           })
      .def("cancel", &Run::cancel)
      .def("reset", &Run::reset)
      .def("follow", &Run::follow)
      .def("enable_profile", &Run::enable_profile, nb::arg("enable") = true)
      .def("profile_json", &Run::profile_json);

  nb::class_<NamedSession>(m, "Session")
      .def_prop_ro("input_count", [](const NamedSession& s) { return s.session.input_count(); })
      .def("input_name", [](const NamedSession& s, size_t i) { return decoded(s.session.input_name(i)); })
      .def(
          "input_type", [](const NamedSession& s, size_t i) { return s.session.input_type(i); }, nb::keep_alive<0, 1>())
      .def("input_has_default", [](const NamedSession& s, size_t i) { return s.session.input_has_default(i); })
      .def_prop_ro("output_count", [](const NamedSession& s) { return s.session.output_count(); })
      .def("output_name", [](const NamedSession& s, size_t i) { return decoded(s.session.output_name(i)); })
      .def(
          "output_type", [](const NamedSession& s, size_t i) { return s.session.output_type(i); },
          nb::keep_alive<0, 1>())
      .def("run_feed", &run_feed, nb::arg("feed"), nb::arg("chosen").none(), nb::arg("run").none() = nullptr)
      .def("run_values", &run_values, nb::arg("inputs"), nb::arg("outputs"), nb::arg("wanted") = std::vector<bool>{},
           nb::arg("run").none() = nullptr);
  m.def(
      "create_session",
      [](const LoadedModel& loaded, const std::map<std::string, std::string>& settings) {
        tenon::Options options;
        for (const auto& [key, value] : settings) options.set(key, value);
        return NamedSession(alone([&] { return Session(loaded.model, options); }), loaded.files);
      },
      nb::arg("model"), nb::arg("options"));
}
