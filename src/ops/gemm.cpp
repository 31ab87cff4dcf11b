#include "ops/gemm.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_gemm(InferContext& c) {
  constexpr TypeSet allowed = kFloats | TypeSet{DType::Int32, DType::Int64, DType::UInt32, DType::UInt64};
  const auto& p = c.params<GemmParams>();
  for (size_t i = 0; i < 3; ++i) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, allowed));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
  }
  TN_RETURN_IF_ERROR(c.expect_rank(0, 2));
  TN_RETURN_IF_ERROR(c.expect_rank(1, 2));
  const Shape *a = c.shape(0), *b = c.shape(1);
  const Dim m = a ? (*a)[p.transA] : c.fresh_symbol(), n = b ? (*b)[!p.transB] : c.fresh_symbol();
  if (a && b) {
    const Dim k_a = (*a)[!p.transA], k_b = (*b)[p.transB];
    if (k_a.is_constant() && k_b.is_constant() && !(k_a == k_b))
      return invalid_model("{}{} x {}{}: the inner dimensions {} and {} differ", shape_text(*a), p.transA ? "^T" : "",
                           shape_text(*b), p.transB ? "^T" : "", k_a.value(), k_b.value());
  }
  const Shape shape{m, n};
  if (const Shape* bias = c.shape(2)) {
    TN_ASSIGN_OR_RETURN(Shape both, broadcast(shape, *bias));
    if (both.size() != 2 || (is_static(both) && is_static(shape) && both != shape))
      return invalid_model("C of shape {} does not broadcast to {}", shape_text(*bias), shape_text(shape));
  }
  c.out(0, c.dtype(0), shape);
  return {};
}

// Whether transposed or not, no sum is longer than the longer side.
double count_gemm_terms(std::span<const Type* const> inputs) {
  const Shape* b = known_shape(inputs, 1);
  if (!b || b->size() < 2) return kManyTerms;
  const Dim &rows = (*b)[b->size() - 2], &columns = b->back();
  return rows.is_constant() && columns.is_constant() ? static_cast<double>(std::max(rows.value(), columns.value()))
                                                     : kManyTerms;
}

}  // namespace

template <>
OpDef op_definition<OpId::Gemm>() {
  return define<GemmParams>(
      {.inputs = {2, 3}, .outputs = {1, 1}, .infer = infer_gemm, .rounding = rounded_products(count_gemm_terms)});
}

}  // namespace tenon
