// Elements of a sequence may have any shapes, so rules pass on element types only.
#include "ops/sequence.h"

#include "ops/infer.h"

namespace tenon {

namespace {

// Kernels that make tensors write elements as they are stored, so packed types are left out.
constexpr TypeSet kWholeByteTypes = kNumbers | kBool | kComplex | kStrings;

Status expect_sequence(const InferContext& c, size_t i) {
  const Type& type = c.in(i);
  if (type.kind == Type::Kind::Unknown || type.kind == Type::Kind::Sequence) return {};
  return invalid_model("input {} must be a sequence, but it is {}", i, type.to_string());
}

Status expect_position(const InferContext& c, size_t i) {
  TN_RETURN_IF_ERROR(c.expect_tensor(i, kIndex));
  if (c.shape(i) && is_static(*c.shape(i)) && !element_count(*c.shape(i)).equals(1))
    return invalid_model("the position must be one integer, but it is {}", c.in(i).to_string());
  return {};
}

Type element_of(const Type& sequence) { return sequence.element ? without_shape(*sequence.element) : Type{}; }

Status infer_at(InferContext& c) {
  TN_RETURN_IF_ERROR(expect_sequence(c, 0));
  TN_RETURN_IF_ERROR(expect_position(c, 1));
  c.out(0, element_of(c.in(0)));
  return {};
}

Status infer_construct(InferContext& c) {
  Type element;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has(i)) return invalid_model("element {} is missing", i);
    auto both = merge(element, without_shape(c.in(i)));
    if (!both)
      return invalid_model("elements 0 and {} have different types: {} and {}", i, element.to_string(),
                           c.in(i).to_string());
    element = std::move(*both);
  }
  c.out(0, Type::sequence(std::move(element)));
  return {};
}

Status infer_empty(InferContext& c) {
  const DType dtype = c.params<SequenceEmptyParams>().dtype;
  if (dtype == DType::Undefined) return invalid_model("dtype is not a valid element type");
  c.out(0, Type::sequence(Type::tensor(dtype)));
  return {};
}

Status infer_erase(InferContext& c) {
  TN_RETURN_IF_ERROR(expect_sequence(c, 0));
  TN_RETURN_IF_ERROR(expect_position(c, 1));
  c.out(0, Type::sequence(element_of(c.in(0))));
  return {};
}

Status infer_insert(InferContext& c) {
  TN_RETURN_IF_ERROR(expect_sequence(c, 0));
  TN_RETURN_IF_ERROR(expect_position(c, 2));
  auto element = merge(element_of(c.in(0)), without_shape(c.in(1)));
  if (!element) return invalid_model("{} cannot be inserted into {}", c.in(1).to_string(), c.in(0).to_string());
  c.out(0, Type::sequence(std::move(*element)));
  return {};
}

Status infer_length(InferContext& c) {
  TN_RETURN_IF_ERROR(expect_sequence(c, 0));
  c.out(0, DType::Int64, Shape{});
  return {};
}

Status infer_split(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kWholeByteTypes));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kIndex));
  if (c.rank(1) && *c.rank(1) > 1)
    return invalid_model("split must be a scalar or a list, but it is {}", c.in(1).to_string());
  if (c.rank(0)) TN_RETURN_IF_ERROR(normalize_axis(c.params<SplitToSequenceParams>().axis, *c.rank(0)).status());
  c.out(0, Type::sequence(without_shape(c.in(0))));
  return {};
}

Status infer_concat(InferContext& c) {
  TN_RETURN_IF_ERROR(expect_sequence(c, 0));
  const Type element = element_of(c.in(0));
  if (element.is_tensor() && element.dtype != DType::Undefined && !kWholeByteTypes.has(element.dtype))
    return invalid_model("elements of type {} cannot be concatenated", dtype_name(element.dtype));
  c.out(0, Type::tensor(element.dtype));
  return {};
}

// Runs once per element; the results of each output form a sequence.
Status infer_map(InferContext& c) {
  TN_RETURN_IF_ERROR(expect_sequence(c, 0));
  TN_ASSIGN_OR_RETURN(auto results, c.infer_body(0, {}));
  if (results.size() < c.output_count())
    return invalid_model("the node has {} outputs, but the body returns {} values", c.output_count(), results.size());
  for (size_t i = 0; i < c.output_count(); ++i) c.out(i, Type::sequence(without_shape(results[i])));
  return {};
}

OpDef deciding(Arity inputs, Status (*infer)(InferContext&)) {
  OpDef def{.inputs = inputs, .outputs = {1, 1}, .infer = infer};
  def.decides_output_size = true;
  return def;
}

}  // namespace

template <>
OpDef op_definition<OpId::SequenceAt>() {
  return define<NoParams>(deciding({2, 2}, infer_at));
}

template <>
OpDef op_definition<OpId::SequenceConstruct>() {
  return define<NoParams>(deciding({1, kVariadic}, infer_construct));
}

template <>
OpDef op_definition<OpId::SequenceEmpty>() {
  return define<SequenceEmptyParams>(deciding({0, 0}, infer_empty));
}

template <>
OpDef op_definition<OpId::SequenceErase>() {
  return define<NoParams>(deciding({1, 2}, infer_erase));
}

template <>
OpDef op_definition<OpId::SequenceInsert>() {
  return define<NoParams>(deciding({2, 3}, infer_insert));
}

template <>
OpDef op_definition<OpId::SequenceLength>() {
  return define<NoParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_length});
}

template <>
OpDef op_definition<OpId::SplitToSequence>() {
  return define<SplitToSequenceParams>(deciding({1, 2}, infer_split));
}

template <>
OpDef op_definition<OpId::ConcatFromSequence>() {
  return define<ConcatFromSequenceParams>(deciding({1, 1}, infer_concat));
}

template <>
OpDef op_definition<OpId::SequenceMap>() {
  OpDef def{.inputs = {1, kVariadic}, .outputs = {1, kVariadic}, .infer = infer_map};
  def.has_bodies = true;
  return define<NoParams>(def);
}

}  // namespace tenon
