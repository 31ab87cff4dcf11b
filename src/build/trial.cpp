#include "build/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tenon::build {

namespace {

using Texts = std::vector<std::string>;

Texts input_names(const Model& model) {
  Texts names;
  for (size_t i = 0; i < model.input_count(); ++i) names.push_back(model.input_name(i));
  return names;
}

// The symbols of a type, those of what is inside included.
void collect_symbols(const TypeView& type, Texts& names) {
  if (const auto element = type.element()) collect_symbols(*element, names);
  const auto dims = type.dims();
  for (size_t i = 0; dims && i < dims->size(); ++i)
    if ((*dims)[i] < 0 && !type.dim_name(i).empty()) names.push_back(type.dim_name(i));
}

Texts dim_names(const Model& model) {
  Texts names;
  for (size_t i = 0; i < model.input_count(); ++i) collect_symbols(model.input_type(i), names);
  return names;
}

// Whether NAME=... names one of these; names may hold a '=' themselves.
bool names_one(const std::string& text, const Texts& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return text.starts_with(name + "="); });
}

Texts matching(const Texts& texts, const Texts& names) {
  Texts result;
  std::copy_if(texts.begin(), texts.end(), std::back_inserter(result),
               [&](const std::string& text) { return names_one(text, names); });
  return result;
}

void check_used(const char* option, const char* what, const Texts& texts, const std::vector<Texts>& names) {
  for (const std::string& text : texts)
    if (std::none_of(names.begin(), names.end(), [&](const Texts& of_model) { return names_one(text, of_model); }))
      throw Error(TN_INVALID_ARGUMENT,
                  fmt::format("option '{}': no model has {} of this name: '{}'", option, what, text));
}

}  // namespace

TrialRequest trial_of(const Model& model, const TrialRequest& request) {
  const Texts names = input_names(model);
  return {matching(request.dims, dim_names(model)), matching(request.shapes, names), matching(request.inputs, names)};
}

void check_trial(const TrialRequest& request, const std::vector<const Model*>& models) {
  std::vector<Texts> inputs, symbols;
  for (const Model* model : models) {
    inputs.push_back(input_names(*model));
    symbols.push_back(dim_names(*model));
  }
  check_used("dim", "an open dimension", request.dims, symbols);
  check_used("shape", "an input", request.shapes, inputs);
  check_used("input", "an input", request.inputs, inputs);
}

}  // namespace tenon::build
