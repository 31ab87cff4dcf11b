#include "ops/infer.h"

namespace tenon {

namespace {

// Two operands of one type, broadcast. Integer results with known elements are passed on.
Status infer_arithmetic(InferContext& c, TypeSet allowed, Dim (*fold)(const Dim&, const Dim&)) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, allowed));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, allowed));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 1));
  const DType dtype = c.dtype(0) == DType::Undefined ? c.dtype(1) : c.dtype(0);
  if (!c.shape(0) || !c.shape(1)) {
    c.out(0, dtype, std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(Shape shape, broadcast(*c.shape(0), *c.shape(1)));
  const bool is_vector = shape.size() <= 1;
  c.out(0, dtype, std::move(shape));
  if (!fold || !is_vector || !is_integer(dtype)) return {};
  auto a = c.propagated(0), b = c.propagated(1);
  if (!a || !b || a->empty() || b->empty()) return {};
  std::vector<Dim> values(std::max(a->size(), b->size()));
  if ((a->size() != 1 && a->size() != values.size()) || (b->size() != 1 && b->size() != values.size())) return {};
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = fold((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (values[i].is_invalid()) return {};
  }
  c.out_values(0, std::move(values));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Add>() {
  return define<NoParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = [](InferContext& c) {
                             return infer_arithmetic(c, kNumbers, [](const Dim& a, const Dim& b) { return a + b; });
                           }});
}

}  // namespace tenon
