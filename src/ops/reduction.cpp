#include "ops/reduction.h"

#include "ops/axis_set.h"
#include "ops/broadcasting.h"
#include "tensor/max_rank.h"

namespace tenon {

namespace {

using FoldAll = Dim (*)(const Dim&, const Dim&);

// Axes that only running will tell: the rank is known when it stays.
void infer_unknown_axes(InferContext& c) {
  std::optional<Shape> shape;
  if (c.shape(0) && c.params<ReductionParams>().keepdims) shape = c.fresh_shape(c.shape(0)->size());
  c.out(0, c.dtype(0), std::move(shape));
}

// A vector taken together to one element.
void propagate_reduction(InferContext& c, FoldAll fold) {
  if (!fold || c.shape(0)->size() != 1 || !is_integer(c.dtype(0))) return;
  auto known = c.propagated(0);
  if (!known || known->empty()) return;
  Dim result = (*known)[0];
  for (size_t i = 1; i < known->size(); ++i) result = fold(result, (*known)[i]);
  if (result.is_invalid() || (result.is_constant() && !holds(c.dtype(0), result.value()))) return;
  c.out_values(0, {result});
}

Status infer_reduction(InferContext& c, TypeSet allowed, FoldAll fold = nullptr) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, allowed));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  std::vector<int64_t> axes;
  if (c.has(1)) {
    // An axis may be named twice, but nobody needs more than there can be.
    if (const Shape* s = c.shape(1);
        s && c.shape(0) && is_static(*s) && element_count(*s).value() > static_cast<int64_t>(kMaxRank))
      return invalid_model("there are {} axes for an input of rank {}", element_count(*s).value(), c.shape(0)->size());
    auto known = c.ints(1);
    if (!known) return infer_unknown_axes(c), Status();
    axes = std::move(*known);
  }
  if (!c.shape(0)) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  const Shape& in = *c.shape(0);
  const auto& params = c.params<ReductionParams>();
  TN_ASSIGN_OR_RETURN(axes, axis_set(axes, static_cast<int64_t>(in.size())));
  const std::vector<bool> reduced = params.reduced(axes, static_cast<int64_t>(in.size()));
  Shape out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!reduced[i])
      out.push_back(in[i]);
    else if (params.keepdims)
      out.emplace_back(1);
  }
  c.out(0, c.dtype(0), std::move(out));
  if (in.size() == 1 && reduced[0]) propagate_reduction(c, fold);
  return {};
}

OpDef reduction(Status (*infer)(InferContext&)) {
  return define<ReductionParams>({.inputs = {1, 2}, .outputs = {1, 1}, .infer = infer});
}

}  // namespace

#define REDUCTION(name, types, fold)                                                   \
  template <>                                                                          \
  OpDef op_definition<OpId::name>() {                                                  \
    return reduction([](InferContext& c) { return infer_reduction(c, types, fold); }); \
  }
REDUCTION(ReduceL1, kNumbers, nullptr)
REDUCTION(ReduceL2, kNumbers, nullptr)
REDUCTION(ReduceLogSum, kNumbers, nullptr)
REDUCTION(ReduceLogSumExp, kNumbers, nullptr)
REDUCTION(ReduceMax, kNumbers | kBool, max)
REDUCTION(ReduceMean, kNumbers, nullptr)
REDUCTION(ReduceMin, kNumbers | kBool, min)
REDUCTION(ReduceProd, kNumbers, [](const Dim& a, const Dim& b) { return a * b; })
REDUCTION(ReduceSum, kNumbers, [](const Dim& a, const Dim& b) { return a + b; })
REDUCTION(ReduceSumSquare, kNumbers, nullptr)
#undef REDUCTION

}  // namespace tenon
