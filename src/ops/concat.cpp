#include "ops/concat.h"

#include "ops/infer.h"

namespace tenon {

namespace {

// Adds one part to the joined shape: extents add up along the axis and agree elsewhere.
Status append_part(Shape& joined, const Shape& part, size_t axis) {
  if (joined.size() != part.size())
    return invalid_model("tensors of rank {} and {} cannot be concatenated", joined.size(), part.size());
  for (size_t i = 0; i < joined.size(); ++i) {
    if (i == axis) {
      joined[i] = joined[i] + part[i];
      continue;
    }
    if (joined[i].is_constant() && part[i].is_constant() && !(joined[i] == part[i]))
      return invalid_model("the shapes {} and {} differ on axis {}, which is not the concatenation axis",
                           shape_text(joined), shape_text(part), i);
    if (part[i].is_constant()) joined[i] = part[i];
  }
  return {};
}

void propagate(InferContext& c) {
  std::vector<Dim> values;
  for (size_t i = 0; i < c.input_count(); ++i) {
    auto part = c.propagated(i);
    if (!part) return;
    values.insert(values.end(), part->begin(), part->end());
  }
  c.out_values(0, std::move(values));
}

Status infer_concat(InferContext& c) {
  DType dtype = DType::Undefined;
  std::optional<int64_t> rank;
  bool all_shaped = true;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has(i)) return invalid_model("input {} is missing", i);
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kAnyType));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
    if (dtype == DType::Undefined) dtype = c.dtype(i);
    if (!rank) rank = c.rank(i);
    all_shaped = all_shaped && c.shape(i);
  }
  if (!rank) {
    c.out(0, dtype, std::nullopt);
    return {};
  }
  if (*rank == 0) return invalid_model("scalars cannot be concatenated");
  TN_ASSIGN_OR_RETURN(int64_t axis, normalize_axis(c.params<ConcatParams>().axis, *rank));
  if (!all_shaped) {
    c.out(0, dtype, c.fresh_shape(static_cast<size_t>(*rank)));
    return {};
  }
  Shape joined = *c.shape(0);
  for (size_t i = 1; i < c.input_count(); ++i)
    TN_RETURN_IF_ERROR(append_part(joined, *c.shape(i), static_cast<size_t>(axis)));
  c.out(0, dtype, std::move(joined));
  if (*rank == 1 && is_integer(dtype)) propagate(c);
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Concat>() {
  return define<ConcatParams>({.inputs = {1, kVariadic}, .outputs = {1, 1}, .infer = infer_concat});
}

}  // namespace tenon
