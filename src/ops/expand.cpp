// Ops that repeat their input.
#include "ops/infer.h"

namespace tenon {

namespace {

constexpr int64_t kMaxPropagated = 64;

// How many entries a 1-D input has, when that is known and reasonable for a rank.
std::optional<size_t> known_length(const InferContext& c, size_t input) {
  const Shape* s = c.shape(input);
  if (!s || s->size() != 1 || !(*s)[0].is_constant() || (*s)[0].value() > kMaxPropagated) return std::nullopt;
  return static_cast<size_t>((*s)[0].value());
}

Status infer_expand(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  TN_RETURN_IF_ERROR(c.expect_rank(1, 1));
  auto target = c.values(1);
  if (!target || !c.shape(0)) {
    std::optional<Shape> shape;
    if (auto length = known_length(c, 1); length && c.shape(0))
      shape = c.fresh_shape(std::max(*length, c.shape(0)->size()));
    c.out(0, c.dtype(0), std::move(shape));
    return {};
  }
  for (const Dim& d : *target)
    if (d.is_constant() && d.value() < 0)
      return invalid_model("the target shape {} has a negative extent", shape_text(*target));
  TN_ASSIGN_OR_RETURN(Shape shape, broadcast(*c.shape(0), *target));
  const Dim count = shape.size() <= 1 ? element_count(shape) : Dim(-1);
  c.out(0, c.dtype(0), std::move(shape));
  if (!count.is_constant() || count.value() < 0 || count.value() > kMaxPropagated) return {};
  if (auto known = c.propagated(0)) {
    if (known->size() == 1) known->assign(static_cast<size_t>(count.value()), Dim(known->front()));
    c.out_values(0, std::move(*known));
  }
  return {};
}

Status infer_tile(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  TN_RETURN_IF_ERROR(c.expect_rank(1, 1));
  const Shape* shape = c.shape(0);
  auto repeats = shape ? c.values(1) : std::nullopt;
  if (!repeats) {
    c.out(0, c.dtype(0), shape ? std::optional(c.fresh_shape(shape->size())) : std::nullopt);
    return {};
  }
  if (repeats->size() != shape->size())
    return invalid_model("repeats has {} entries, but the tensor has rank {}", repeats->size(), shape->size());
  Shape result;
  for (size_t i = 0; i < shape->size(); ++i) {
    if ((*repeats)[i].is_constant() && (*repeats)[i].value() < 0)
      return invalid_model("repeats has the negative entry {}", (*repeats)[i].value());
    result.push_back((*shape)[i] * (*repeats)[i]);
  }
  const Dim count = result.size() == 1 ? result[0] : Dim(-1);
  c.out(0, c.dtype(0), std::move(result));
  if (!count.is_constant() || count.value() < 0 || count.value() > kMaxPropagated) return {};
  if (auto known = c.propagated(0); known && !known->empty()) {
    std::vector<Dim> values;
    for (int64_t i = 0; i < count.value(); ++i) values.push_back((*known)[static_cast<size_t>(i) % known->size()]);
    c.out_values(0, std::move(values));
  }
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Expand>() {
  return define<NoParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_expand});
}

template <>
OpDef op_definition<OpId::Tile>() {
  return define<NoParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_tile});
}

}  // namespace tenon
