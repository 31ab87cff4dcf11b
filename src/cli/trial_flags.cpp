#include "cli/trial_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cli/failure.h"
#include "cli/inputs.h"

namespace cli {

namespace {

// Whether NAME=... names one of these; names may hold a '=' themselves.
bool names_one(const std::string& text, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return text.starts_with(name + "="); });
}

std::vector<std::string> matching(const std::vector<std::string>& texts, const std::vector<std::string>& names) {
  std::vector<std::string> result;
  std::copy_if(texts.begin(), texts.end(), std::back_inserter(result),
               [&](const std::string& text) { return names_one(text, names); });
  return result;
}

void check_used(const char* flag, const char* what, const std::vector<std::string>& texts,
                const std::vector<std::vector<std::string>>& names) {
  for (const std::string& text : texts)
    if (std::none_of(names.begin(), names.end(), [&](const auto& of_model) { return names_one(text, of_model); }))
      throw Failure(kUsage, fmt::format("{}: no model has {} of this name: '{}'", flag, what, text));
}

// NAME=VALUE as an option called <kind>:NAME. What is no such text is no flag that any model has a use for.
void add_named(const char* kind, const std::vector<std::string>& texts, tenon::Options& options) {
  for (const std::string& text : texts)
    if (const size_t equals = text.find('='); equals != std::string::npos)
      options.set(fmt::format("{}:{}", kind, text.substr(0, equals)), text.substr(equals + 1));
}

}  // namespace

void TrialFlags::declare(Arguments& arguments) {
  arguments.texts("--input", inputs, "NAME=FILE.npy|VALUE",
                  "for validation: an input, from a NumPy file or filled with one value; the others are random");
  arguments.texts("--shape", shapes, "NAME=1,3,224,224", "for validation: the shape of an input");
  arguments.texts("--dim", dims, "NAME=4", "for validation: the extent of an open dimension, by name");
}

TrialFlags TrialFlags::of(const tenon::Model& model) const {
  const std::vector<std::string> names = input_names(model);
  return {matching(dims, dim_names(model)), matching(shapes, names), matching(inputs, names)};
}

void TrialFlags::add_to(tenon::Options& options) const {
  add_named("dim", dims, options);
  add_named("shape", shapes, options);
  add_named("input", inputs, options);
}

TrialFlags TrialFlags::from_arguments(const std::vector<std::string>& arguments) {
  TrialFlags flags;
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const std::string& flag = arguments[i];
    (flag == "--dim" ? flags.dims : flag == "--shape" ? flags.shapes : flags.inputs).push_back(arguments[i + 1]);
  }
  return flags;
}

void check_trial_flags(const TrialFlags& flags, const std::vector<const tenon::Model*>& models) {
  if (models.size() > 1) {
    std::vector<std::vector<std::string>> inputs, symbols;
    for (const tenon::Model* model : models) {
      inputs.push_back(input_names(*model));
      symbols.push_back(dim_names(*model));
    }
    check_used("--dim", "an open dimension", flags.dims, symbols);
    check_used("--shape", "an input", flags.shapes, inputs);
    check_used("--input", "an input", flags.inputs, inputs);
  }
  for (const tenon::Model* model : models) {
    const TrialFlags own = models.size() > 1 ? flags.of(*model) : flags;
    InputFlags read(own.inputs, ShapeFlags(own.dims, own.shapes));
    read.resolve_shapes(*model);
    read.read_given(*model);
  }
}

}  // namespace cli
