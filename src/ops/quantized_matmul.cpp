#include "ops/infer.h"
#include "ops/matmul.h"

namespace tenon {

namespace {

constexpr TypeSet kBytes{DType::Int8, DType::UInt8};
constexpr TypeSet kQuantized =
    kBytes | TypeSet{DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2, DType::Float8E5M2FNUZ};
constexpr TypeSet kScales{DType::Float32, DType::Float16, DType::BFloat16};

// A scale or zero point of a matrix operand: one number, or one per row (left) or column (right).
Status check_granularity(const InferContext& c, size_t matrix, size_t parameter, bool per_row) {
  const Shape *m = c.shape(matrix), *p = c.shape(parameter);
  if (!m || !p || element_count(*p).equals(1)) return {};
  Shape fits = *m;
  if (fits.size() < 2)
    fits.clear();  // a vector has one row or column
  else
    fits[fits.size() - (per_row ? 1 : 2)] = Dim(1);
  Shape given = *p;
  if (per_row && given.size() == 1 && fits.size() >= 2) given.push_back(Dim(1));
  const auto joined = broadcast(given, fits);
  const bool open = !is_static(given) || !is_static(fits);
  if (joined.ok() && joined->size() == fits.size() && (open || *joined == fits)) return {};
  return invalid_model("input {} has the shape {}; for a matrix of shape {} it must be one number or one per {}",
                       parameter, shape_text(*p), shape_text(*m), per_row ? "row" : "column");
}

Status infer_product(InferContext& c, size_t a, size_t b, DType out) {
  if (!c.shape(a) || !c.shape(b)) {
    c.out(0, out, std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(Shape shape, matmul_shape(*c.shape(a), *c.shape(b)));
  c.out(0, out, std::move(shape));
  return {};
}

Status infer_matmul_integer(InferContext& c) {
  for (size_t i : {0, 1}) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kBytes));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(i, i + 2));
    TN_RETURN_IF_ERROR(check_granularity(c, i, i + 2, i == 0));
  }
  return infer_product(c, 0, 1, DType::Int32);
}

Status infer_qlinear_matmul(InferContext& c) {
  for (size_t i : {0, 3}) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kQuantized));
    TN_RETURN_IF_ERROR(c.expect_tensor(i + 1, kScales));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(i, i + 2));
    TN_RETURN_IF_ERROR(check_granularity(c, i, i + 1, i == 0));
    TN_RETURN_IF_ERROR(check_granularity(c, i, i + 2, i == 0));
  }
  TN_RETURN_IF_ERROR(c.expect_tensor(6, kScales));
  TN_RETURN_IF_ERROR(c.expect_tensor(7, kQuantized));
  for (size_t i : {6, 7})
    if (const Shape* s = c.shape(i); s && is_static(*s) && !element_count(*s).equals(1))
      return invalid_model("input {} must be one number, but its shape is {}", i, shape_text(*s));
  return infer_product(c, 0, 3, c.dtype(7));
}

}  // namespace

template <>
OpDef op_definition<OpId::MatMulInteger>() {
  return define<NoParams>({.inputs = {2, 4}, .outputs = {1, 1}, .infer = infer_matmul_integer});
}

template <>
OpDef op_definition<OpId::QLinearMatMul>() {
  return define<NoParams>({.inputs = {8, 8}, .outputs = {1, 1}, .infer = infer_qlinear_matmul});
}

}  // namespace tenon
