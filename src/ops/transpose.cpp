#include "ops/transpose.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_transpose(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  const auto& perm = c.params<TransposeParams>().perm;
  const Shape* shape = c.shape(0);
  if (!shape) {
    c.out(0, c.dtype(0), perm ? std::optional(c.fresh_shape(perm->size())) : std::nullopt);
    return {};
  }
  if (!perm) {
    c.out(0, c.dtype(0), Shape(shape->rbegin(), shape->rend()));
    return {};
  }
  if (perm->size() != shape->size())
    return invalid_model("perm has {} entries, but the tensor has rank {}", perm->size(), shape->size());
  TN_RETURN_IF_ERROR(normalize_axes(*perm, static_cast<int64_t>(shape->size()), "perm").status());
  Shape result;
  for (int64_t axis : *perm)
    result.push_back((*shape)[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape->size()) : axis)]);
  c.out(0, c.dtype(0), std::move(result));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Transpose>() {
  return define<TransposeParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_transpose});
}

}  // namespace tenon
