#include "ops/scatter.h"

#include "ops/accepted.h"
#include "ops/infer.h"

namespace tenon {

namespace {

Status check_reduction(const InferContext& c, const std::string& reduction) {
  if (reduction == "none") return {};
  if (reduction != "add" && reduction != "mul" && reduction != "max" && reduction != "min")
    return invalid_model("reduction is '{}'; it must be 'none', 'add', 'mul', 'max' or 'min'", reduction);
  const TypeSet ordered = kNumbers | kBool;
  return c.expect_tensor(0, reduction == "add" ? ordered | TypeSet{DType::String} : ordered);
}

Status check_types(const InferContext& c, TypeSet index_types) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, index_types));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, kAnyType));
  return c.expect_same_dtype(0, 2);
}

Status check_equal(const Dim& a, const Dim& b, const char* what, size_t axis) {
  if (!a.is_constant() || !b.is_constant() || a == b) return {};
  return invalid_model("{} differ on axis {}: {} and {}", what, axis, a.value(), b.value());
}

Status infer_scatter_elements(InferContext& c) {
  TN_RETURN_IF_ERROR(check_types(c, kIndex));
  const auto& p = c.params<ScatterElementsParams>();
  TN_RETURN_IF_ERROR(check_reduction(c, p.reduction));
  const Shape *data = c.shape(0), *indices = c.shape(1), *updates = c.shape(2);
  c.out(0, c.in(0));
  if (!data) return {};
  const int64_t rank = static_cast<int64_t>(data->size());
  TN_ASSIGN_OR_RETURN(int64_t axis, normalize_axis(p.axis, rank));
  for (const Shape* s : {indices, updates})
    if (s && s->size() != data->size())
      return invalid_model("data has rank {}, but indices or updates have rank {}", rank, s->size());
  for (size_t i = 0; indices && i < data->size(); ++i) {
    if (updates) TN_RETURN_IF_ERROR(check_equal((*indices)[i], (*updates)[i], "indices and updates", i));
    const Dim &d = (*data)[i], &x = (*indices)[i];
    if (static_cast<int64_t>(i) != axis && d.is_constant() && x.is_constant() && x.value() > d.value())
      return invalid_model("indices of shape {} exceed data of shape {} on axis {}", shape_text(*indices),
                           shape_text(*data), i);
  }
  return {};
}

Status infer_scatter_nd(InferContext& c) {
  TN_RETURN_IF_ERROR(check_types(c, {DType::Int64}));
  TN_RETURN_IF_ERROR(check_reduction(c, c.params<ScatterNDParams>().reduction));
  const Shape *data = c.shape(0), *indices = c.shape(1), *updates = c.shape(2);
  c.out(0, c.in(0));
  if (indices && indices->empty()) return invalid_model("indices must have rank 1 or more");
  if (!data || !indices || !indices->back().is_constant()) return {};
  const int64_t depth = indices->back().value(), rank = static_cast<int64_t>(data->size());
  if (depth < 0 || depth > rank)
    return invalid_model("indices with {} coordinates do not match data of rank {}", depth, rank);
  if (!updates) return {};
  Shape expected(indices->begin(), indices->end() - 1);
  expected.insert(expected.end(), data->begin() + depth, data->end());
  if (expected.size() != updates->size())
    return invalid_model("updates must have the shape {}, but their shape is {}", shape_text(expected),
                         shape_text(*updates));
  for (size_t i = 0; i < expected.size(); ++i)
    TN_RETURN_IF_ERROR(check_equal(expected[i], (*updates)[i], "the expected shape and the shape of updates", i));
  return {};
}

Status infer_tensor_scatter(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 1));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, {DType::Int64}));
  TN_RETURN_IF_ERROR(c.expect_rank(2, 1));
  const auto& p = c.params<TensorScatterParams>();
  if (p.mode != "linear" && p.mode != "circular")
    return invalid_model("mode is '{}'; it must be 'linear' or 'circular'", p.mode);
  const Shape *cache = c.shape(0), *update = c.shape(1);
  c.out(0, c.in(0));
  if (!cache || !update) return {};
  if (cache->size() != update->size())
    return invalid_model("the cache {} and the update {} have different ranks", shape_text(*cache),
                         shape_text(*update));
  TN_ASSIGN_OR_RETURN(int64_t axis, normalize_axis(p.axis, static_cast<int64_t>(cache->size())));
  if (axis == 0) return invalid_model("axis 0 is the batch, so it cannot be the sequence axis");
  for (size_t i = 0; i < cache->size(); ++i) {
    const Dim &d = (*cache)[i], &u = (*update)[i];
    if (static_cast<int64_t>(i) != axis) {
      TN_RETURN_IF_ERROR(check_equal(d, u, "cache and update", i));
    } else if (d.is_constant() && u.is_constant() && u.value() > d.value()) {
      return invalid_model("an update of {} steps does not fit into a cache of {}", u.value(), d.value());
    }
  }
  if (c.shape(2)) TN_RETURN_IF_ERROR(check_equal((*cache)[0], (*c.shape(2))[0], "the batch and write_indices", 0));
  return {};
}

Accepted accepts_scatter_elements(const AcceptContext& c, size_t input) {
  return input != 1 ? c.output() : Accepted::index_into(c.extent(0, c.params<ScatterElementsParams>().axis));
}

Accepted accepts_scatter_nd(const AcceptContext& c, size_t input) {
  return input != 1 ? c.output() : accepts_index_tuples(c, 0);
}

// Writing begins at the first place.
Accepted accepts_tensor_scatter(const AcceptContext& c, size_t input) {
  return input < 2 ? c.output() : Accepted::range(0, 0);
}

}  // namespace

template <>
OpDef op_definition<OpId::ScatterElements>() {
  return define<ScatterElementsParams>({.inputs = {3, 3},
                                        .outputs = {1, 1},
                                        .infer = infer_scatter_elements,
                                        .can_fail = true,
                                        .accepts = accepts_scatter_elements,
                                        .rounding = kRoundedArithmetic});
}

template <>
OpDef op_definition<OpId::ScatterND>() {
  return define<ScatterNDParams>({.inputs = {3, 3},
                                  .outputs = {1, 1},
                                  .infer = infer_scatter_nd,
                                  .can_fail = true,
                                  .accepts = accepts_scatter_nd,
                                  .rounding = kRoundedArithmetic});
}

template <>
OpDef op_definition<OpId::TensorScatter>() {
  return define<TensorScatterParams>({.inputs = {2, 3},
                                      .outputs = {1, 1},
                                      .infer = infer_tensor_scatter,
                                      .can_fail = true,
                                      .accepts = accepts_tensor_scatter});
}

}  // namespace tenon
