#include "ops/optional.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_optional(InferContext& c) {
  const auto& p = c.params<OptionalParams>();
  if (!c.has(0)) {
    if (p.elem_type == DType::Undefined) return invalid_model("an empty optional needs the attribute 'type'");
    c.out(0, Type::optional(p.element()));
    return {};
  }
  if (p.elem_type != DType::Undefined && !merge(p.element(), without_shape(c.in(0))))
    return invalid_model("the attribute 'type' is {}, but the input is {}", p.element().to_string(),
                         c.in(0).to_string());
  c.out(0, Type::optional(c.in(0)));
  return {};
}

Status infer_get_element(InferContext& c) {
  const Type& in = c.in(0);
  if (in.kind == Type::Kind::Optional)
    c.out(0, in.element ? *in.element : Type{});
  else
    c.out(0, in);
  return {};
}

Status infer_has_element(InferContext& c) {
  c.out(0, DType::Bool, Shape{});
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Optional>() {
  OpDef def{.inputs = {0, 1}, .outputs = {1, 1}, .infer = infer_optional};
  def.decides_output_size = true;
  return define<OptionalParams>(def);
}

template <>
OpDef op_definition<OpId::OptionalGetElement>() {
  OpDef def{.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_get_element};
  def.decides_output_size = true;
  return define<NoParams>(def);
}

template <>
OpDef op_definition<OpId::OptionalHasElement>() {
  return define<NoParams>({.inputs = {0, 1}, .outputs = {1, 1}, .infer = infer_has_element});
}

}  // namespace tenon
