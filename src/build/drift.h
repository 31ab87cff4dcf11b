#pragma once

#include <map>
#include <memory>
#include <vector>

#include "build/json.h"
#include "onnx/import.h"
#include "passes/optimize_model.h"
#include "trials/tolerance/tolerance.h"

namespace tenon::build {

// Measures what rules that are not exact change in the outputs of a model: it runs the model in the reference
// interpreter on drawn inputs, as it was and after each of their patches.
class DriftMeter {
 public:
  // Draws inputs and runs the model. The model must outlive the meter.
  static Result<std::unique_ptr<DriftMeter>> start(const std::shared_ptr<const ImportedModel>& model, uint64_t seed);

  // What optimize_model is to tell of its patches.
  PatchObserver observer();

  // Of a change, by its number in the log: {output, max_abs, max_rel, within} of the output that moves most, against
  // the model just before the change; null where it was not measured, because its rule is exact.
  Json of_change(size_t number) const;
  // All changes together: {seed, inputs: {name: type}, outputs: [{name, max_abs, max_rel, allowed, within}]}; within:
  // rounding explains it.
  Json total() const;

 private:
  using Values = std::vector<Value>;

  explicit DriftMeter(std::shared_ptr<const ImportedModel> model, uint64_t seed)
      : model_(std::move(model)), seed_(seed) {}
  Status draw_inputs();
  Result<Values> run(const Graph& graph) const;
  Json difference(size_t output, const Value& actual, const Value& expected) const;

  std::shared_ptr<const ImportedModel> model_;
  uint64_t seed_;
  Values inputs_, first_, last_;  // what goes in, and what came out at the beginning and after the last patch
  std::vector<ValueTolerance> tolerances_;
  std::map<size_t, Json> changes_;
};

}  // namespace tenon::build
