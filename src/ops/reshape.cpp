#include "ops/reshape.h"

#include "ops/infer.h"

namespace tenon {

namespace {

// The target with 0 and -1 resolved.
Result<Shape> resolve_target(const Shape* input, const std::vector<Dim>& target, bool allow_zero) {
  Shape result;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < target.size(); ++i) {
    Dim d = target[i];
    if (d.equals(0) && !allow_zero) {
      if (input && i >= input->size())
        return invalid_model("the target shape {} copies dimension {} of an input of rank {}", shape_text(target), i,
                             input->size());
      d = input ? (*input)[i] : Dim::invalid();
    } else if (d.equals(-1)) {
      if (inferred) return invalid_model("the target shape {} has more than one -1", shape_text(target));
      inferred = i;
    } else if (d.is_invalid()) {
      return invalid_model("dimension {} of the target shape is too large", i);
    } else if (d.is_constant() && d.value() < 0) {
      return invalid_model("the target shape {} has a negative dimension", shape_text(target));
    }
    result.push_back(d);
  }
  if (!inferred || !input) return result;
  const Dim total = element_count(*input);
  Dim others(1);
  for (size_t i = 0; i < result.size(); ++i)
    if (i != *inferred) others = others * result[i];
  if (others.equals(0))
    return invalid_model("-1 is ambiguous because another dimension of the target shape {} is 0", shape_text(target));
  if (total.is_constant() && others.is_constant() && total.value() % others.value() != 0)
    return invalid_model("{} elements cannot be reshaped to {}", total.value(), shape_text(target));
  result[*inferred] = floor_div(total, others);
  return result;
}

std::string count_text(const Shape& shape) {
  const Dim count = element_count(shape);
  return count.is_invalid() ? "too many" : count.to_string();
}

Status infer_reshape(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  auto target = c.values(1);
  if (!target) {
    std::optional<Shape> shape;
    if (const Shape* s = c.shape(1); s && s->size() == 1 && (*s)[0].is_constant() && (*s)[0].value() <= 64)
      shape = c.fresh_shape(static_cast<size_t>((*s)[0].value()));
    c.out(0, c.dtype(0), std::move(shape));
    return {};
  }
  TN_ASSIGN_OR_RETURN(Shape shape, resolve_target(c.shape(0), *target, c.params<ReshapeParams>().allowzero));
  if (!c.shape(0))
    for (Dim& d : shape)
      if (d.is_invalid() || d.equals(-1)) d = c.fresh_symbol();
  if (c.shape(0) && is_static(*c.shape(0)) && is_static(shape) && !(element_count(*c.shape(0)) == element_count(shape)))
    return invalid_model("{} cannot be reshaped to {}: the shapes have {} and {} elements", shape_text(*c.shape(0)),
                         shape_text(shape), count_text(*c.shape(0)), count_text(shape));
  c.out(0, c.dtype(0), std::move(shape));
  if (auto known = c.propagated(0)) c.out_values(0, std::move(*known));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Reshape>() {
  return define<ReshapeParams>(
      {.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_reshape, .in_place = InPlace::SameElements});
}

}  // namespace tenon
