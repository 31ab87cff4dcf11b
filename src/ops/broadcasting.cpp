#include "ops/broadcasting.h"

#include <algorithm>

namespace tenon {

Result<std::optional<Shape>> broadcast_inputs(const InferContext& c) {
  Shape shape;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.shape(i)) return std::optional<Shape>();
    TN_ASSIGN_OR_RETURN(shape, broadcast(shape, *c.shape(i)));
  }
  return std::optional(std::move(shape));
}

bool holds(DType dtype, int64_t value) {
  if (dtype == DType::Bool) return value == 0 || value == 1;
  const int bits = dtype_bits(dtype);
  if (is_signed_integer(dtype))
    return bits >= 64 || (value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1));
  return value >= 0 && (bits >= 63 || value < int64_t{1} << bits);
}

void propagate_elements(InferContext& c, FoldElements fold) {
  const Type& out = c.outputs()[0];
  if (!out.shape || out.shape->size() > 1 || !(is_integer(out.dtype) || out.dtype == DType::Bool)) return;
  std::vector<std::vector<Dim>> known;
  size_t count = 1;
  for (size_t i = 0; i < c.input_count(); ++i) {
    auto elements = c.propagated(i);
    if (!elements || elements->empty()) return;
    if (elements->size() != 1) count = elements->size();
    known.push_back(std::move(*elements));
  }
  std::vector<Dim> result(count), operands(known.size());
  for (size_t k = 0; k < count; ++k) {
    for (size_t i = 0; i < known.size(); ++i) {
      if (known[i].size() != 1 && known[i].size() != count) return;
      operands[i] = known[i][known[i].size() == 1 ? 0 : k];
    }
    result[k] = fold(operands);
    if (result[k].is_invalid() || (result[k].is_constant() && !holds(out.dtype, result[k].value()))) return;
  }
  c.out_values(0, std::move(result));
}

Status infer_elementwise(InferContext& c, TypeSet allowed, FoldElements fold) {
  DType dtype = DType::Undefined;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has(i)) return invalid_model("input {} is missing", i);
    TN_RETURN_IF_ERROR(c.expect_tensor(i, allowed));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
    if (dtype == DType::Undefined) dtype = c.dtype(i);
  }
  TN_ASSIGN_OR_RETURN(auto shape, broadcast_inputs(c));
  c.out(0, dtype, std::move(shape));
  if (fold) propagate_elements(c, fold);
  return {};
}

}  // namespace tenon
