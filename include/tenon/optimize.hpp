// Models in normal form. In libtenon only.
#pragma once

#include <string>

#include "tenon/model.hpp"

namespace tenon {
inline namespace v0 {

struct OptimizedModel {
  std::string model;   // the bytes of an ONNX file
  std::string report;  // JSON, see tn_model_optimize
};

// See tn_model_optimize. Throws Error.
inline OptimizedModel optimize(const Model& model, const Options& options = {}) {
  char *data = nullptr, *report = nullptr;
  size_t size = 0;
  detail::check(tn_model_optimize(model.get(), options.get(), &data, &size, &report));
  const detail::Owner<char, tn_string_release> owned(data);
  return {std::string(data, size), detail::take_text(report)};
}

// See tn_model_optimized. Throws Error.
inline Model optimized(const Model& model, const Options& options = {}, std::string* report = nullptr) {
  tn_model* made = nullptr;
  char* text = nullptr;
  detail::check(tn_model_optimized(model.get(), options.get(), &made, &text));
  Model result(made);
  std::string taken = detail::take_text(text);
  if (report) *report = std::move(taken);
  return result;
}

// See tn_model_save_optimized. Returns the report. Throws Error.
inline std::string save_optimized(const Model& model, const std::string& output, const Options& options = {}) {
  char* report = nullptr;
  detail::check(
      tn_model_save_optimized(model.get(), detail::c_text(output, "the path of a model"), options.get(), &report));
  return detail::take_text(report);
}

// See tn_model_analyze. Returns JSON. Throws Error.
inline std::string analyze(const Model& model, const Options& options = {}) {
  char* json = nullptr;
  detail::check(tn_model_analyze(model.get(), options.get(), &json));
  return detail::take_text(json);
}
// See tn_analysis_html. Throws Error.
inline std::string analysis_html(const std::string& analyses) {
  char* html = nullptr;
  detail::check(tn_analysis_html(detail::c_text(analyses, "analyses"), &html));
  return detail::take_text(html);
}

// See tn_optimize. Returns the report. Throws Error.
inline std::string optimize_file(const std::string& input, const std::string& output, const Options& options = {}) {
  char* report = nullptr;
  detail::check(tn_optimize(input.c_str(), output.c_str(), options.get(), &report));
  return detail::take_text(report);
}

// See tn_capabilities_json.
inline std::string capabilities_json() {
  char* json = nullptr;
  detail::check(tn_capabilities_json(&json));
  return detail::take_text(json);
}

// See tn_choose_capabilities. Throws Error.
inline std::string choose_capabilities(const Options& options) {
  char* json = nullptr;
  detail::check(tn_choose_capabilities(options.get(), &json));
  return detail::take_text(json);
}

}  // namespace v0
}  // namespace tenon
