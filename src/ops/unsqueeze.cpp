#include "ops/accepted.h"
#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_unsqueeze(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  auto axes = c.ints(1);
  if (!axes || !c.shape(0)) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  const int64_t rank = static_cast<int64_t>(c.shape(0)->size() + axes->size());
  TN_ASSIGN_OR_RETURN(auto sorted, normalize_axes(*axes, rank));
  Shape shape = *c.shape(0);
  for (int64_t axis : sorted) shape.insert(shape.begin() + axis, Dim(1));
  c.out(0, c.dtype(0), std::move(shape));
  if (auto known = c.propagated(0)) c.out_values(0, std::move(*known));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Unsqueeze>() {
  return define<NoParams>({.inputs = {2, 2},
                           .outputs = {1, 1},
                           .infer = infer_unsqueeze,
                           .in_place = InPlace::SameElements,
                           .accepts = accepts_moved_along_axes,
                           .rounding = kNotRounded});
}

}  // namespace tenon
