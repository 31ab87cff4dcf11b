// Ops whose output size depends on the elements.
#include "ops/select.h"

#include "ops/accepted.h"
#include "ops/infer.h"

namespace tenon {

namespace {

// The input's shape with an open extent along the axis, or one open extent when there is no axis.
Result<std::optional<Shape>> selected_shape(InferContext& c, std::optional<int64_t> axis, const Dim& count) {
  if (!axis) return std::optional(Shape{count});
  if (!c.shape(0)) return std::optional<Shape>();
  Shape shape = *c.shape(0);
  TN_ASSIGN_OR_RETURN(int64_t at, normalize_axis(*axis, static_cast<int64_t>(shape.size())));
  shape[static_cast<size_t>(at)] = count;
  return std::optional(std::move(shape));
}

Status infer_compress(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kWholeByteTypes));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kBool));
  TN_RETURN_IF_ERROR(c.expect_rank(1, 1));
  TN_ASSIGN_OR_RETURN(auto shape, selected_shape(c, c.params<CompressParams>().axis, c.fresh_symbol()));
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

Status infer_unique(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kWholeByteTypes));
  const Dim count = c.fresh_symbol();
  const auto axis = c.params<UniqueParams>().axis;
  TN_ASSIGN_OR_RETURN(auto shape, selected_shape(c, axis, count));
  c.out(0, c.dtype(0), std::move(shape));
  c.out(1, DType::Int64, Shape{count});
  Dim slices = c.fresh_symbol();
  if (const Shape* s = c.shape(0)) {
    if (axis) {
      TN_ASSIGN_OR_RETURN(int64_t at, normalize_axis(*axis, static_cast<int64_t>(s->size())));
      slices = (*s)[static_cast<size_t>(at)];
    } else {
      slices = element_count(*s);
    }
  }
  c.out(2, DType::Int64, Shape{slices});
  c.out(3, DType::Int64, Shape{count});
  return {};
}

Status infer_non_zero(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  c.out(0, DType::Int64, Shape{c.rank(0) ? Dim(*c.rank(0)) : c.fresh_symbol(), c.fresh_symbol()});
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Compress>() {
  return define<CompressParams>({.inputs = {2, 2},
                                 .outputs = {1, 1},
                                 .infer = infer_compress,
                                 .decides_output_size = true,
                                 .accepts = accepts_first_moved,
                                 .rounding = kNotRounded});
}

template <>
OpDef op_definition<OpId::Unique>() {
  return define<UniqueParams>({.inputs = {1, 1},
                               .outputs = {1, 4},
                               .infer = infer_unique,
                               .decides_output_size = true,
                               .rounding = kNotRounded});
}

template <>
OpDef op_definition<OpId::NonZero>() {
  return define<NoParams>({.inputs = {1, 1},
                           .outputs = {1, 1},
                           .infer = infer_non_zero,
                           .decides_output_size = true,
                           .rounding = kNotRounded});
}

}  // namespace tenon
