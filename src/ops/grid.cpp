#include "ops/grid.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_grid_sample(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kNumbers));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kFloats));
  const auto& p = c.params<GridSampleParams>();
  if (p.mode != "linear" && p.mode != "nearest" && p.mode != "cubic")
    return invalid_model("mode is '{}'; it must be 'linear', 'nearest' or 'cubic'", p.mode);
  if (p.padding_mode != "zeros" && p.padding_mode != "border" && p.padding_mode != "reflection")
    return invalid_model("padding_mode is '{}'; it must be 'zeros', 'border' or 'reflection'", p.padding_mode);
  const Shape *data = c.shape(0), *grid = c.shape(1);
  if (data && data->size() < 3)
    return invalid_model("the data needs rank 3 or more, but it is {}", c.in(0).to_string());
  if (!data || !grid) {
    c.out(0, c.dtype(0), data ? std::optional(c.fresh_shape(data->size())) : std::nullopt);
    return {};
  }
  if (data->size() != grid->size())
    return invalid_model("data has rank {} and the grid has rank {}; the ranks must be equal", data->size(),
                         grid->size());
  const Dim coordinates(static_cast<int64_t>(data->size()) - 2);
  if (grid->back().is_constant() && !(grid->back() == coordinates))
    return invalid_model("the grid has {} coordinates per point, but the data has {} spatial axes",
                         grid->back().value(), coordinates.value());
  if ((*data)[0].is_constant() && (*grid)[0].is_constant() && !((*data)[0] == (*grid)[0]))
    return invalid_model("data has a batch of {}, but the grid has a batch of {}", (*data)[0].value(),
                         (*grid)[0].value());
  Shape result{(*data)[0], (*data)[1]};
  result.insert(result.end(), grid->begin() + 1, grid->end() - 1);
  bool has_elements = true, empty_data = false;
  for (const Dim& d : result) has_elements = has_elements && d.is_constant() && d.value() > 0;
  for (size_t i = 2; i < data->size(); ++i) empty_data = empty_data || (*data)[i].equals(0);
  if (has_elements && empty_data)
    return invalid_model("data of shape {} has no elements to sample", c.in(0).to_string());
  c.out(0, c.dtype(0), std::move(result));
  return {};
}

Status infer_affine_grid(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats));
  TN_RETURN_IF_ERROR(c.expect_rank(0, 3));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  TN_RETURN_IF_ERROR(c.expect_rank(1, 1));
  auto size = c.values(1);
  if (!size) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  if (size->size() != 4 && size->size() != 5)
    return invalid_model("size must be [N, C, H, W] or [N, C, D, H, W], but it has {} entries", size->size());
  const Dim axes(static_cast<int64_t>(size->size()) - 2);
  if (const Shape* theta = c.shape(0)) {
    const Shape expected{(*size)[0], axes, axes + Dim(1)};
    for (size_t i = 0; i < 3; ++i)
      if ((*theta)[i].is_constant() && expected[i].is_constant() && !((*theta)[i] == expected[i]))
        return invalid_model("theta must have the shape {}, but its shape is {}", shape_text(expected),
                             shape_text(*theta));
  }
  Shape result{(*size)[0]};
  result.insert(result.end(), size->begin() + 2, size->end());
  result.push_back(axes);
  c.out(0, c.dtype(0), std::move(result));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::GridSample>() {
  return define<GridSampleParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_grid_sample});
}

template <>
OpDef op_definition<OpId::AffineGrid>() {
  return define<AffineGridParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_affine_grid});
}

}  // namespace tenon
