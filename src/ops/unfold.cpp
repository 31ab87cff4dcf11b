#include "ops/unfold.h"

#include "ops/infer.h"

namespace tenon {

namespace {

// Slices of `size` along an axis, one every `step`: their number takes the axis' place, their elements come last.
Status infer_unfold_tensor(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  const auto& p = c.params<UnfoldTensorParams>();
  if (p.size < 1) return invalid_model("size must be positive, but it is {}", p.size);
  if (p.step < 1) return invalid_model("step must be positive, but it is {}", p.step);
  if (!c.shape(0)) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  Shape shape = *c.shape(0);
  TN_ASSIGN_OR_RETURN(const int64_t axis, normalize_axis(p.dim, static_cast<int64_t>(shape.size()), "dim"));
  Dim& extent = shape[static_cast<size_t>(axis)];
  if (extent.is_constant() && extent.value() < p.size)
    return invalid_model("size is {}, but dimension {} has only {}", p.size, axis, extent.value());
  extent = floor_div(extent - Dim(p.size), Dim(p.step)) + Dim(1);
  shape.emplace_back(p.size);
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::UnfoldTensor>() {
  return define<UnfoldTensorParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_unfold_tensor});
}

}  // namespace tenon
