// ONNX models as they are before they are compiled: reading, describing, writing. In libtenon only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/options.hpp"

namespace tenon {
inline namespace v0 {

// A model. Code that uses the runtime alone must not call any of this.
class Model {
 public:
  static Model load(const std::string& path, const Options& options = {}) {
    tn_model* model = nullptr;
    detail::check(tn_model_load_file(nullptr, detail::c_text(path, "the path of a model"), options.get(), &model));
    return Model(model);
  }
  static Model from_memory(std::string_view bytes, const Options& options = {}) {
    tn_model* model = nullptr;
    detail::check(tn_model_load_memory(nullptr, bytes.data(), bytes.size(), options.get(), &model));
    return Model(model);
  }
  void save(const std::string& path) const {
    detail::check(tn_model_save(get(), detail::c_text(path, "the path of a model")));
  }
  std::string to_memory() const {
    char* data = nullptr;
    size_t size = 0;
    detail::check(tn_model_to_memory(get(), &data, &size));
    const detail::Owner<char, tn_string_release> owned(data);
    return std::string(data, size);
  }
  std::string describe(const std::string& sections = "summary") const {
    char* text = nullptr;
    detail::check(tn_model_describe(get(), detail::c_text(sections, "sections"), &text));
    return detail::take_text(text);
  }
  std::string property(const std::string& name) const {
    const char* text = tn_model_property(get(), detail::c_text(name, "the name of a property"));
    return text ? text : "";
  }
  std::vector<std::pair<std::string, std::string>> metadata() const {
    std::vector<std::pair<std::string, std::string>> entries;
    for (size_t i = 0; i < tn_model_metadata_count(get()); ++i)
      entries.emplace_back(tn_model_metadata_key(get(), i), tn_model_metadata_value(get(), i));
    return entries;
  }
  std::vector<std::string> warnings() const {
    std::vector<std::string> messages;
    for (size_t i = 0; i < tn_model_warning_count(get()); ++i) messages.emplace_back(tn_model_warning(get(), i));
    return messages;
  }
  size_t input_count() const { return tn_model_input_count(get()); }
  std::string input_name(size_t i) const { return tn_model_input_name(get(), i); }
  TypeView input_type(size_t i) const { return TypeView(tn_model_input_type(get(), i)); }
  bool input_has_default(size_t i) const { return tn_model_input_has_default(get(), i) != 0; }
  size_t output_count() const { return tn_model_output_count(get()); }
  std::string output_name(size_t i) const { return tn_model_output_name(get(), i); }
  TypeView output_type(size_t i) const { return TypeView(tn_model_output_type(get(), i)); }

  // Fills the empty values with what the model accepts; options: seed, sizes, dim:NAME, shape:NAME.
  void fill_inputs(std::span<Value> inputs, const Options& options = {}) const {
    std::vector<tn_value*> handles;
    for (const Value& v : inputs) handles.push_back(v.get());
    detail::check(tn_model_random_inputs(get(), options.get(), handles.data(), handles.size()));
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!inputs[i] && handles[i]) inputs[i] = Value(handles[i]);
  }
  // Whether a value of this name is what it should be, by what the nodes that make it explain.
  tn_comparison compare(const std::string& name, const Value& actual, const Value& expected,
                        const Value& chosen_from = {}) const {
    tn_comparison comparison{};
    comparison.size = sizeof comparison;
    detail::check(tn_model_compare(get(), detail::c_text(name, "the name of a value"), actual.get(), expected.get(),
                                   chosen_from.get(), &comparison));
    return comparison;
  }
  tn_model* get() const { return handle_.get(); }

 private:
  friend class Build;
  friend Model optimized(const Model& model, const Options& options, std::string* report);
  explicit Model(tn_model* handle) : handle_(handle) {}
  detail::Owner<tn_model, tn_model_release> handle_;
};

// Changes whenever compiling the model would give another result.
inline std::string compile_key(const Model& model, const Options& options = {}) {
  char* key = nullptr;
  detail::check(tn_compile_key(model.get(), options.get(), &key));
  return detail::take_text(key);
}

// See tn_model_html. `description`: of describe("summary,graph").
inline std::string model_html(const std::string& title, const std::string& description) {
  char* html = nullptr;
  detail::check(tn_model_html(detail::c_text(title, "a title"), detail::c_text(description, "a description"), &html));
  return detail::take_text(html);
}

}  // namespace v0
}  // namespace tenon
