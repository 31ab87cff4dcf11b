#include "ops/split.h"

#include "ops/infer.h"

namespace tenon {

namespace {

// Extents of the parts when they are given one by one.
Status check_given(const std::vector<Dim>& sizes, const Dim& extent, size_t outputs) {
  if (sizes.size() != outputs) return invalid_model("there are {} sizes for {} outputs", sizes.size(), outputs);
  Dim sum(0);
  for (const Dim& size : sizes) {
    if (size.is_constant() && size.value() < 0) return invalid_model("an output cannot have the size {}", size.value());
    sum = sum + size;
  }
  if (sum.is_constant() && extent.is_constant() && !(sum == extent))
    return invalid_model("the sizes add up to {}, but the axis has {} elements", sum.to_string(), extent.to_string());
  return {};
}

// Equal parts. When the extent cannot be divided, parts are rounded up and the last ones get what is left.
Result<std::vector<Dim>> equal_parts(const Dim& extent, int64_t count, bool may_be_uneven) {
  if (!may_be_uneven) {
    if (extent.is_constant() && extent.value() % count != 0)
      return invalid_model("an axis of {} elements cannot be split into {} equal parts", extent.value(), count);
    return std::vector<Dim>(static_cast<size_t>(count), floor_div(extent, Dim(count)));
  }
  const Dim part = ceil_div(extent, Dim(count));
  std::vector<Dim> sizes{part};
  for (int64_t i = 1; i < count; ++i) sizes.push_back(min(part, max(extent - part * Dim(i), Dim(0))));
  return sizes;
}

void propagate(InferContext& c, const std::vector<Dim>& sizes) {
  auto known = c.propagated(0);
  if (!known) return;
  size_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].is_constant() || at + static_cast<size_t>(sizes[i].value()) > known->size()) return;
    const auto begin = known->begin() + static_cast<std::ptrdiff_t>(at);
    c.out_values(i, {begin, begin + sizes[i].value()});
    at += static_cast<size_t>(sizes[i].value());
  }
}

Status infer_split(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  const auto& p = c.params<SplitParams>();
  const size_t count = c.output_count();
  if (count == 0) return invalid_model("Split needs an output");
  if (p.num_outputs && *p.num_outputs != static_cast<int64_t>(count))
    return invalid_model("num_outputs is {}, but the node has {} outputs", *p.num_outputs, count);
  const Shape* shape = c.shape(0);
  if (!shape) {
    for (size_t i = 0; i < count; ++i) c.out(i, c.dtype(0), std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(int64_t axis, normalize_axis(p.axis, static_cast<int64_t>(shape->size())));
  const Dim& extent = (*shape)[static_cast<size_t>(axis)];
  std::vector<Dim> sizes;
  if (!c.has(1)) {
    TN_ASSIGN_OR_RETURN(sizes, equal_parts(extent, static_cast<int64_t>(count), p.num_outputs.has_value()));
  } else if (auto given = c.values(1)) {
    TN_RETURN_IF_ERROR(check_given(*given, extent, count));
    sizes = std::move(*given);
  } else {
    for (size_t i = 0; i < count; ++i) sizes.push_back(c.fresh_symbol());
  }
  for (size_t i = 0; i < count; ++i) {
    Shape part = *shape;
    part[static_cast<size_t>(axis)] = sizes[i];
    c.out(i, c.dtype(0), std::move(part));
  }
  if (shape->size() == 1 && is_integer(c.dtype(0))) propagate(c, sizes);
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Split>() {
  return define<SplitParams>({.inputs = {1, 2}, .outputs = {1, kVariadic}, .infer = infer_split});
}

}  // namespace tenon
