#include "compiler/late_dims.h"

#include <algorithm>
#include <set>

#include "providers/provider.h"

namespace tenon {

namespace {

bool reads_dims(const KernelFamily& family) {
  return std::ranges::all_of(family.variants, [](const Variant& v) { return !v.bind || v.reads_dims; });
}

std::set<std::string> symbols_of(const Plan& plan, const Step& step) {
  std::vector<std::string> symbols;
  for (const auto* values : {&step.inputs, &step.outputs})
    for (const PlanValueId v : *values) {
      const auto* shape = v == kNoValue ? nullptr : &plan.values[static_cast<size_t>(v)].type.shape;
      if (!shape || !*shape) continue;
      for (const Dim& d : **shape) d.collect_symbols(symbols);
    }
  return {symbols.begin(), symbols.end()};
}

}  // namespace

std::vector<LateDim> find_late_dims(const Plan& plan) {
  std::set<std::string> bound;
  for (const Step& step : plan.steps) {
    const KernelFamily* family = find_family(step.family);
    if (!family || op_def(step.op).decides_output_size || !step.bodies.empty()) return {};
    if (!reads_dims(*family)) bound.merge(symbols_of(plan, step));
  }
  std::vector<LateDim> late;
  for (const PlanInput& input : plan.inputs) {
    const auto& shape = plan.values[static_cast<size_t>(input.value)].type.shape;
    if (!shape) continue;
    for (const Dim& d : *shape) {
      const auto name = d.as_symbol();
      if (!name || bound.contains(*name) || std::ranges::find(late, *name, &LateDim::symbol) != late.end()) continue;
      late.push_back({*name, LateDim::Classes::Quarters});
    }
  }
  return late;
}

}  // namespace tenon
