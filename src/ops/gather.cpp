#include "ops/gather.h"

#include "ops/infer.h"

namespace tenon {

namespace {

void propagate(InferContext& c) {
  auto known = c.propagated(0), indices = c.propagated(1);
  if (!known || !indices) return;
  const int64_t extent = static_cast<int64_t>(known->size());
  std::vector<Dim> values;
  for (const Dim& index : *indices) {
    if (!index.is_constant() || index.value() < -extent || index.value() >= extent) return;
    values.push_back((*known)[static_cast<size_t>(index.value() + (index.value() < 0 ? extent : 0))]);
  }
  c.out_values(0, std::move(values));
}

Status infer_gather(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kIndex));
  const Shape *data = c.shape(0), *indices = c.shape(1);
  if (!data) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(int64_t axis, normalize_axis(c.params<GatherParams>().axis, static_cast<int64_t>(data->size())));
  if (!indices) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  Shape result(data->begin(), data->begin() + axis);
  result.insert(result.end(), indices->begin(), indices->end());
  result.insert(result.end(), data->begin() + axis + 1, data->end());
  c.out(0, c.dtype(0), std::move(result));
  if (data->size() == 1 && indices->size() <= 1) propagate(c);
  return {};
}

Status infer_gather_elements(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kIndex));
  const Shape *data = c.shape(0), *indices = c.shape(1);
  if (data)
    TN_RETURN_IF_ERROR(normalize_axis(c.params<GatherParams>().axis, static_cast<int64_t>(data->size())).status());
  if (data && indices) {
    if (data->size() != indices->size())
      return invalid_model("data has rank {} and indices have rank {}; the ranks must be equal", data->size(),
                           indices->size());
    const int64_t axis = c.params<GatherParams>().axis, rank = static_cast<int64_t>(data->size());
    for (int64_t i = 0; i < rank; ++i) {
      const Dim &d = (*data)[static_cast<size_t>(i)], &x = (*indices)[static_cast<size_t>(i)];
      if (i != axis && i != axis + rank && d.is_constant() && x.is_constant() && x.value() > d.value())
        return invalid_model("indices of shape {} exceed data of shape {} on axis {}", shape_text(*indices),
                             shape_text(*data), i);
    }
  }
  c.out(0, c.dtype(0), indices ? std::optional(*indices) : std::nullopt);
  return {};
}

Status infer_gather_nd(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kIndex));
  const Shape *data = c.shape(0), *indices = c.shape(1);
  if (!data || !indices || indices->empty() || !indices->back().is_constant()) {
    if (indices && indices->empty()) return invalid_model("indices must have rank 1 or more");
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  const int64_t batch = c.params<GatherNDParams>().batch_dims, depth = indices->back().value();
  const int64_t rank = static_cast<int64_t>(data->size()), index_rank = static_cast<int64_t>(indices->size());
  if (batch < 0 || batch >= index_rank || batch > rank)
    return invalid_model("batch_dims {} does not match data of rank {} and indices of rank {}", batch, rank,
                         index_rank);
  if (depth < 0 || depth > rank - batch)
    return invalid_model("indices with {} coordinates do not match data of rank {} with batch_dims {}", depth, rank,
                         batch);
  Shape result;
  for (int64_t i = 0; i < batch; ++i) {
    const Dim &d = (*data)[static_cast<size_t>(i)], &x = (*indices)[static_cast<size_t>(i)];
    if (d.is_constant() && x.is_constant() && !(d == x))
      return invalid_model("data of shape {} and indices of shape {} differ on batch axis {}", shape_text(*data),
                           shape_text(*indices), i);
  }
  result.assign(indices->begin(), indices->end() - 1);
  result.insert(result.end(), data->begin() + batch + depth, data->end());
  c.out(0, c.dtype(0), std::move(result));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Gather>() {
  return define<GatherParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_gather, .can_fail = true});
}

template <>
OpDef op_definition<OpId::GatherElements>() {
  return define<GatherParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_gather_elements, .can_fail = true});
}

template <>
OpDef op_definition<OpId::GatherND>() {
  return define<GatherNDParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_gather_nd, .can_fail = true});
}

}  // namespace tenon
