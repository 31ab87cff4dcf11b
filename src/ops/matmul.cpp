#include "ops/matmul.h"

namespace tenon {

Result<Shape> matmul_shape(Shape a, Shape b) {
  if (a.empty() || b.empty()) return invalid_model("a matrix product needs operands of rank 1 or more");
  const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
  if (vector_a) a.insert(a.begin(), Dim(1));
  if (vector_b) b.push_back(Dim(1));
  const Dim k_a = a.back(), k_b = b[b.size() - 2];
  if (k_a.is_constant() && k_b.is_constant() && !(k_a == k_b))
    return invalid_model("{} x {}: the inner dimensions {} and {} differ", shape_text(a), shape_text(b), k_a.value(),
                         k_b.value());
  TN_ASSIGN_OR_RETURN(Shape result, broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2)));
  if (!vector_a) result.push_back(a[a.size() - 2]);
  if (!vector_b) result.push_back(b.back());
  return result;
}

namespace {

Status infer_matmul(InferContext& c) {
  constexpr TypeSet allowed = kFloats | TypeSet{DType::Int32, DType::Int64, DType::UInt32, DType::UInt64};
  TN_RETURN_IF_ERROR(c.expect_tensor(0, allowed));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, allowed));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 1));
  if (!c.shape(0) || !c.shape(1)) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(Shape shape, matmul_shape(*c.shape(0), *c.shape(1)));
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

double count_matmul_terms(std::span<const Type* const> inputs) {
  const Shape* b = known_shape(inputs, 1);
  if (!b || b->size() < 2) return kManyTerms;
  const Dim& rows = (*b)[b->size() - 2];
  return rows.is_constant() ? static_cast<double>(rows.value()) : kManyTerms;
}

}  // namespace

template <>
OpDef op_definition<OpId::MatMul>() {
  return define<NoParams>(
      {.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_matmul, .rounding = rounded_products(count_matmul_terms)});
}

}  // namespace tenon
