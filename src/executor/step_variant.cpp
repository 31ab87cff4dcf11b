#include "executor/step_variant.h"

#include <algorithm>
#include <list>

namespace tenon {

StepVariant variant_of(const Plan& plan, const Step& step, Isa isa) {
  const KernelFamily* family = find_family(step.family);
  if (!family) return {};
  // Whoever takes every step needs no shapes.
  if (!family->variants[0].bind) return {family->variants[0].name, {}};
  std::list<std::vector<int64_t>> dims;
  bool known = true;
  const auto views = [&](const std::vector<PlanValueId>& values) {
    std::vector<TensorView> list;
    for (PlanValueId v : values) {
      TensorView& view = list.emplace_back();
      if (v == kNoValue) continue;
      const Type& type = plan.values[static_cast<size_t>(v)].type;
      if (!type.is_tensor() || !type.shape || !is_static(*type.shape)) {
        known = false;
        continue;
      }
      auto& of_view = dims.emplace_back();
      for (const Dim& d : *type.shape) of_view.push_back(d.value());
      view = {type.dtype, of_view, nullptr};
    }
    return list;
  };
  const std::vector<TensorView> inputs = views(step.inputs), outputs = views(step.outputs);
  if (!known) return {};
  StepVariant result;
  const auto bound = bind_kernel(*family, {step.params, inputs, outputs, isa}, &result.refusals);
  if (bound.ok()) result.name = bound->variant->name;
  return result;
}

}  // namespace tenon
