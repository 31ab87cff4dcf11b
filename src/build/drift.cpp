#include "build/drift.h"

#include <algorithm>

#include "compiler/compile.h"
#include "compiler/recompile.h"
#include "runtime/session.h"
#include "trials/inputs/choose_extents.h"
#include "trials/inputs/random_inputs.h"

namespace tenon::build {

namespace {

bool is_exact(std::string_view rule) {
  const auto capability = capability_of_rule(rule);
  return !capability || capability_info(*capability).exactness == Exactness::Exact;
}

}  // namespace

Result<std::unique_ptr<DriftMeter>> DriftMeter::start(const std::shared_ptr<const ImportedModel>& model,
                                                      uint64_t seed) {
  std::unique_ptr<DriftMeter> meter(new DriftMeter(model, seed));
  TN_RETURN_IF_ERROR(meter->draw_inputs().in("measuring drift"));
  for (ValueId v : model->graph.outputs())
    meter->tolerances_.push_back(v == kNone ? ValueTolerance() : tolerance_of(model->graph, v));
  meter->last_ = meter->first_;
  return meter;
}

// The first extents that the model runs with.
Status DriftMeter::draw_inputs() {
  Status refusal;
  for (size_t sizes = 0; sizes < kExtentChoices; ++sizes) {
    RandomInputOptions options;
    options.seed = seed_;
    options.sizes = sizes;
    TN_ASSIGN_OR_RETURN(inputs_, random_inputs(model_->graph, options, Values(model_->graph.inputs.size())));
    auto outputs = run(model_->graph);
    if (outputs.ok()) {
      first_ = std::move(*outputs);
      return {};
    }
    if (refusal.ok()) refusal = std::move(outputs).status();
  }
  return refusal;
}

Result<DriftMeter::Values> DriftMeter::run(const Graph& graph) const {
  TN_ASSIGN_OR_RETURN(const CompiledModel compiled, compile(graph, {"reference", {}}));
  SessionOptions options;
  options.seed = seed_;
  TN_ASSIGN_OR_RETURN(const auto session,
                      Session::make_from_sources(compiled.program, own_weights(compiled, model_), std::move(options)));
  return session->run(inputs_, {}, {});
}

Json DriftMeter::difference(size_t output, const Value& actual, const Value& expected) const {
  const Comparison c = compare_within(tolerances_[output], actual, expected, nullptr).comparison;
  return {{"max_abs", c.max_abs}, {"max_rel", c.max_rel}, {"allowed", c.allowed_abs}, {"within", c.same()}};
}

PatchObserver DriftMeter::observer() {
  return [this](const Graph& graph, const Patch::Change& change, size_t number) -> Status {
    if (is_exact(change.label)) return {};
    auto outputs = run(graph);
    if (!outputs.ok()) return std::move(outputs).status().in("measuring the drift of " + change.label);
    Json most;
    for (size_t i = 0; i < outputs->size(); ++i) {
      Json own = difference(i, (*outputs)[i], last_[i]);
      if (most.is_null() || number_in(own, "max_abs") > number_in(most, "max_abs") ||
          (flag_in(most, "within") && !flag_in(own, "within"))) {
        most = {{"output", model_->graph.output_names()[i]}};
        most.update(own);
      }
    }
    changes_[number] = std::move(most);
    last_ = std::move(*outputs);
    return {};
  };
}

Json DriftMeter::of_change(size_t number) const {
  const auto it = changes_.find(number);
  return it == changes_.end() ? Json() : it->second;
}

Json DriftMeter::total() const {
  Json inputs = Json::object(), outputs = Json::array();
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (!inputs_[i].empty())
      inputs[model_->graph.value(model_->graph.inputs[i].value).name] = inputs_[i].type().to_string();
  for (size_t i = 0; i < first_.size(); ++i) {
    Json output = {{"name", model_->graph.output_names()[i]}};
    output.update(difference(i, last_[i], first_[i]));
    outputs.push_back(std::move(output));
  }
  return {{"seed", seed_}, {"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}};
}

}  // namespace tenon::build
