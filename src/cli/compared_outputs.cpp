#include "cli/compared_outputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

void ComparedOutput::add(const tn_comparison& c) {
  comparable = comparable && c.comparable;
  elements += c.elements;
  mismatches += c.mismatches;
  ties += c.ties;
  nan += c.nan_pairs;
  max_abs = std::max(max_abs, c.max_abs);
  max_rel = std::max(max_rel, c.max_rel);
  cosine = std::min(cosine, c.cosine);
  allowed_abs = std::max(allowed_abs, c.allowed_abs);
}

Json ComparedOutput::json() const {
  return Json::Object{{"name", name},         {"type", type},
                      {"same", same()},       {"comparable", comparable},
                      {"elements", elements}, {"mismatches", mismatches},
                      {"ties", ties},         {"nan", nan},
                      {"max_abs", max_abs},   {"max_rel", max_rel},
                      {"cosine", cosine},     {"allowed_abs", allowed_abs}};
}

namespace {

bool all_same(const std::vector<ComparedOutput>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [](const ComparedOutput& output) { return output.same(); });
}

// What keeps outputs that agree from showing anything, or "".
std::string emptiness_of(const std::vector<ComparedOutput>& outputs) {
  int64_t elements = 0, nan = 0;
  for (const ComparedOutput& output : outputs) {
    elements += output.elements;
    nan += output.nan;
  }
  if (nan > 0) return "the reference gives NaN";
  return elements == 0 && !outputs.empty() ? "the outputs have no elements" : "";
}

}  // namespace

std::string verdict_of(const std::vector<ComparedOutput>& outputs) {
  if (!all_same(outputs)) return "different";
  return emptiness_of(outputs).empty() ? "same" : "inconclusive";
}

std::string verdict_message(const std::vector<ComparedOutput>& outputs) {
  return all_same(outputs) ? emptiness_of(outputs)
                           : "the results of the compiled model differ from those of the reference";
}

std::string ComparedSets::add(const std::vector<tn_comparison>& comparisons) {
  std::vector<ComparedOutput> set(comparisons.size());
  for (size_t i = 0; i < comparisons.size(); ++i) set[i].add(comparisons[i]);
  std::string why = all_same(set) ? emptiness_of(set) : "";
  shows_something_ = shows_something_ || why.empty();
  std::vector<ComparedOutput>& outputs = why.empty() ? shown_ : nothing_;
  for (size_t i = 0; i < comparisons.size(); ++i) outputs[i].add(comparisons[i]);
  return why;
}

std::string output_result(const Json& output) {
  if (!output["comparable"].boolean()) return "different type or shape";
  if (output["mismatches"].integer() == 0)
    return output["ties"].integer() > 0 ? fmt::format("same except for {} ties", output["ties"].plain()) : "same";
  return fmt::format("{} of {} differ, allowed {:.3g}", output["mismatches"].plain(), output["elements"].plain(),
                     output["allowed_abs"].number());
}

Judge::Judge(const tenon::Model& model, const tenon::Context& context, double rtol, double atol)
    : model_(model), context_(context), rtol_(rtol), atol_(atol),
      tolerances_(Json::parse(model.describe("tolerances"))["tolerances"]) {}

std::string Judge::chosen_from(const std::string& output) const {
  for (const Json& tolerance : tolerances_.items())
    if (tolerance["name"].text() == output) return tolerance["chosen_from"].text();
  return "";
}

tenon::Value Judge::reference_value(const std::string& name, const std::vector<tenon::Value>& inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (model_.input_name(i) == name) return inputs[i];
  const tenon::Session session(context_, model_, {{"provider", "reference"}, {"keep_values", "1"}});
  const std::vector<tenon::Value> values = session.run(inputs);
  for (size_t i = model_.output_count(); i < values.size(); ++i)
    if (session.output_name(i) == name) return values[i];
  return {};
}

tn_comparison Judge::compare(const std::string& name, const tenon::Value& got, const tenon::Value& wanted,
                             const std::vector<tenon::Value>& inputs) const {
  if (rtol_ >= 0 || atol_ >= 0) return got.compare(wanted, rtol_, atol_);
  const tn_comparison c = model_.compare(name, got, wanted);
  if (!c.comparable || c.mismatches == 0) return c;
  const std::string from = chosen_from(name);
  return from.empty() ? c : model_.compare(name, got, wanted, reference_value(from, inputs));
}

}  // namespace cli
