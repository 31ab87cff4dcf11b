#include "executor/step_variant.h"

#include <algorithm>
#include <list>

#include "ops/infer.h"

namespace tenon {

namespace {

// Rules that ask for elements leave open what depends on them.
class TypesAlone final : public InferKnowledge {
 public:
  std::optional<std::vector<Dim>> values(size_t) override { return std::nullopt; }
  std::optional<std::vector<Dim>> propagated(size_t) override { return std::nullopt; }
  const Tensor* constant(size_t) override { return nullptr; }
  Dim fresh_symbol() override { return Dim::symbol("open" + std::to_string(symbols_++)); }
  Result<std::vector<Type>> infer_body(size_t, std::vector<Type>) override {
    return error(Code::Unsupported, "its sub-graphs are not looked into");
  }

 private:
  int symbols_ = 0;
};

bool may_be(const Type& inferred, const Type& declared) {
  if (!inferred.is_tensor() || inferred.dtype != declared.dtype) return false;
  if (!inferred.shape) return true;
  return std::ranges::equal(*inferred.shape, *declared.shape,
                            [](const Dim& a, const Dim& b) { return !a.is_constant() || a == b; });
}

std::vector<ValueLayout> layouts_of(const Plan& plan, const std::vector<PlanValueId>& values) {
  std::vector<ValueLayout> layouts;
  for (const PlanValueId v : values)
    layouts.push_back(v == kNoValue ? ValueLayout{} : plan.values[static_cast<size_t>(v)].layout);
  return layouts;
}

// Whether the op's rule agrees with the types that a file declares for the step; kernels rely on that.
bool is_consistent(const Plan& plan, const Step& step) {
  const auto type_of = [&](PlanValueId v) { return &plan.values[static_cast<size_t>(v)].type; };
  std::vector<const Type*> inputs;
  for (const PlanValueId v : step.inputs) inputs.push_back(v == kNoValue ? nullptr : type_of(v));
  TypesAlone knowledge;
  InferContext context(step.op, step.params, std::move(inputs), step.outputs.size(), knowledge);
  if (!infer_op(context).ok()) return false;
  for (size_t i = 0; i < step.outputs.size(); ++i)
    if (step.outputs[i] != kNoValue && !may_be(context.outputs()[i], *type_of(step.outputs[i]))) return false;
  return true;
}

}  // namespace

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
  if (!known || !is_consistent(plan, step)) return {};
  StepVariant result;
  const std::vector<ValueLayout> input_layouts = layouts_of(plan, step.inputs);
  const std::vector<ValueLayout> output_layouts = layouts_of(plan, step.outputs);
  const auto bound =
      bind_kernel(*family, {step.params, inputs, outputs, isa, input_layouts, output_layouts}, &result.refusals);
  if (bound.ok()) result.name = bound->variant->name;
  return result;
}

}  // namespace tenon
