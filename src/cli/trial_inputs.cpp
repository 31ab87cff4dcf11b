#include "cli/trial_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/text.h"

namespace cli {

namespace {

constexpr int64_t kChoices = 6;

// Whether other extents may help.
bool may_be_about_shapes(const tenon::Error& error) {
  const tn_code code = error.code();
  return code == TN_INVALID_ARGUMENT || code == TN_INVALID_MODEL || code == TN_RESOURCE_LIMIT;
}

}  // namespace

TrialInputs::Values TrialInputs::make(int64_t sizes) const {
  Values values = given_;
  fill_(values, seed_ + made_, sizes);
  return values;
}

Json TrialInputs::types_of(const Values& values) const {
  Json types(Json::Object{});
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i]) types.set(model_.input_name(i), values[i].type_text());
  return types;
}

bool TrialInputs::was_tried(const Json& inputs) const {
  const std::string text = inputs.dump();
  return std::any_of(tried_.begin(), tried_.end(), [&](const Shapes& s) { return s.inputs.dump() == text; });
}

void TrialInputs::for_each(const std::function<std::string(const Values&)>& run) {
  std::optional<tenon::Error> refusal;
  std::vector<size_t> accepted, useless;
  const auto wants_more = [&] { return samples_ == 0 || made_ < samples_; };
  for (int64_t sizes = 0; sizes < kChoices && wants_more(); ++sizes) {
    // The first two cost about the same; the others are for models that refuse these.
    if (sizes > 1 && !accepted.empty()) break;
    const Values values = make(sizes);
    Json types = types_of(values);
    if (was_tried(types)) continue;
    tried_.push_back({std::move(types), sizes, 0, "", ""});
    try {
      tried_.back().shows_nothing = run(values);
    } catch (const tenon::Error& error) {
      if (!may_be_about_shapes(error)) throw;
      tried_.back().refused = error.what();
      if (!refusal) refusal = error;
      continue;
    }
    (tried_.back().shows_nothing.empty() ? accepted : useless).push_back(tried_.size() - 1);
    tried_.back().sets = 1;
    if (tried_.back().shows_nothing.empty()) ++made_;
    // The same values again would show nothing new.
    if (!values.empty() && std::all_of(given_.begin(), given_.end(), [](const tenon::Value& v) { return bool(v); }))
      return;
  }
  if (accepted.empty() && useless.empty() && refusal) throw tenon::Error(*refusal);
  if (accepted.empty() && !useless.empty()) {
    accepted = {useless[0]};
    made_ = 1;
  }
  for (; !accepted.empty() && made_ < samples_; ++made_) {
    Shapes& shapes = tried_[accepted[static_cast<size_t>(made_) % accepted.size()]];
    run(make(shapes.sizes));
    ++shapes.sets;
  }
}

Json TrialInputs::tried() const {
  Json list(Json::Array{});
  for (const Shapes& shapes : tried_) {
    Json entry = Json::Object{{"inputs", shapes.inputs}};
    if (shapes.refused.empty())
      entry.set("sets", shapes.sets);
    else
      entry.set("refused", shapes.refused);
    if (!shapes.shows_nothing.empty()) entry.set("shows_nothing", shapes.shows_nothing);
    list.push(std::move(entry));
  }
  return list;
}

std::string tried_text(const Json& tried) {
  const auto joined = [&](bool useful) {
    std::string text;
    for (const Json& shapes : tried.items()) {
      if ((shapes["refused"].is_null() && shapes["shows_nothing"].is_null()) != useful) continue;
      std::string inputs;
      for (const auto& [name, type] : shapes["inputs"].entries())
        inputs += fmt::format("{}{} {}", inputs.empty() ? "" : ", ", name, type.text());
      if (!inputs.empty()) text += (text.empty() ? "" : "; ") + inputs;
    }
    return printable(text);
  };
  const std::string useful = joined(true);
  return useful.empty() ? joined(false) : useful;
}

}  // namespace cli
