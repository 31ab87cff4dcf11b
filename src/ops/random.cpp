#include "ops/random.h"

#include "ops/infer.h"

namespace tenon {

namespace {

constexpr TypeSet kFloat8{DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2, DType::Float8E5M2FNUZ};

template <class P>
OpDef random_op(int inputs, Status (*infer)(InferContext&)) {
  return define<P>({.inputs = {inputs, inputs}, .outputs = {1, 1}, .infer = infer, .deterministic = false});
}

Status expect_dtype(DType dtype, TypeSet allowed) {
  if (dtype == DType::Undefined || allowed.has(dtype)) return {};
  return invalid_model("the output would be {}; the allowed types are {}", dtype_name(dtype), allowed.to_string());
}

template <class P>
Status infer_random(InferContext& c) {
  const P& params = c.params<P>();
  TN_RETURN_IF_ERROR(expect_dtype(params.dtype, kFloats));
  Shape shape;
  for (int64_t extent : params.shape) {
    if (extent < 0) return invalid_model("attribute 'shape' contains {}; extents must not be negative", extent);
    shape.emplace_back(extent);
  }
  c.out(0, params.dtype == DType::Undefined ? DType::Float32 : params.dtype, std::move(shape));
  return {};
}

template <class P>
Status infer_random_like(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  const DType dtype = c.params<P>().dtype == DType::Undefined ? c.dtype(0) : c.params<P>().dtype;
  TN_RETURN_IF_ERROR(expect_dtype(dtype, kFloats));
  c.out(0, dtype, c.in(0).shape);
  return {};
}

Status infer_bernoulli(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats));
  const DType wanted = c.params<BernoulliParams>().dtype;
  TN_RETURN_IF_ERROR(expect_dtype(wanted, kNumbers | kBool));
  c.out(0, wanted == DType::Undefined ? c.dtype(0) : wanted, c.in(0).shape);
  return {};
}

Status infer_multinomial(InferContext& c) {
  const auto& params = c.params<MultinomialParams>();
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats));
  TN_RETURN_IF_ERROR(c.expect_rank(0, 2));
  if (!kIndex.has(params.dtype)) return invalid_model("attribute 'dtype' must be one of {}", kIndex.to_string());
  if (params.sample_size < 0)
    return invalid_model("attribute 'sample_size' is {}; it must not be negative", params.sample_size);
  const Dim batch = c.shape(0) ? (*c.shape(0))[0] : c.fresh_symbol();
  c.out(0, params.dtype, Shape{batch, Dim(params.sample_size)});
  return {};
}

Status infer_dropout(InferContext& c) {
  TN_RETURN_IF_ERROR(infer_same_as_input(c, kFloats | kFloat8));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kFloats | kFloat8));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, kBool));
  for (size_t i : {1, 2})
    if (const Shape* s = c.shape(i); s && is_static(*s) && !element_count(*s).equals(1))
      return invalid_model("{} must be one value, but its shape is {}", i == 1 ? "ratio" : "training_mode",
                           shape_text(*s));
  c.out(1, DType::Bool, c.in(0).shape);
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::RandomNormal>() {
  return random_op<RandomNormalParams>(0, infer_random<RandomNormalParams>);
}

template <>
OpDef op_definition<OpId::RandomNormalLike>() {
  return random_op<RandomNormalParams>(1, infer_random_like<RandomNormalParams>);
}

template <>
OpDef op_definition<OpId::RandomUniform>() {
  return random_op<RandomUniformParams>(0, infer_random<RandomUniformParams>);
}

template <>
OpDef op_definition<OpId::RandomUniformLike>() {
  return random_op<RandomUniformParams>(1, infer_random_like<RandomUniformParams>);
}

template <>
OpDef op_definition<OpId::Bernoulli>() {
  return random_op<BernoulliParams>(1, infer_bernoulli);
}

template <>
OpDef op_definition<OpId::Multinomial>() {
  return random_op<MultinomialParams>(1, infer_multinomial);
}

template <>
OpDef op_definition<OpId::Dropout>() {
  return define<DropoutParams>({.inputs = {1, 3}, .outputs = {1, 2}, .infer = infer_dropout, .deterministic = false});
}

}  // namespace tenon
