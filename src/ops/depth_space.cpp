#include "ops/depth_space.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status check_divides(const Dim& extent, const Dim& divisor, const char* what) {
  if (!extent.is_constant() || !divisor.is_constant() || floor_mod(extent, divisor).equals(0)) return {};
  return invalid_model("the {} {} is not a multiple of {}", what, extent.value(), divisor.value());
}

Status infer_depth_space(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_rank(0, 4));
  const auto& p = c.params<DepthSpaceParams>();
  if (p.blocksize <= 0) return invalid_model("blocksize must be positive, but it is {}", p.blocksize);
  if (p.mode != "DCR" && p.mode != "CRD") return invalid_model("mode is '{}'; it must be 'DCR' or 'CRD'", p.mode);
  if (!c.shape(0)) {
    c.out(0, c.dtype(0), c.fresh_shape(4));
    return {};
  }
  Shape s = *c.shape(0);
  const Dim block(p.blocksize), area = block * block;
  if (area.is_invalid()) return invalid_model("blocksize {} is too large", p.blocksize);
  if (c.op() == OpId::DepthToSpace) {
    TN_RETURN_IF_ERROR(check_divides(s[1], area, "depth"));
    c.out(0, c.dtype(0), Shape{s[0], floor_div(s[1], area), s[2] * block, s[3] * block});
  } else {
    TN_RETURN_IF_ERROR(check_divides(s[2], block, "height"));
    TN_RETURN_IF_ERROR(check_divides(s[3], block, "width"));
    c.out(0, c.dtype(0), Shape{s[0], s[1] * area, floor_div(s[2], block), floor_div(s[3], block)});
  }
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::DepthToSpace>() {
  return define<DepthSpaceParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_depth_space});
}

template <>
OpDef op_definition<OpId::SpaceToDepth>() {
  return define<DepthSpaceParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_depth_space});
}

}  // namespace tenon
