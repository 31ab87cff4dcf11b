#include "onnx/ops/legacy_broadcast.h"

namespace tenon {

ValueId legacy_broadcast_operand(ImportNode& n) {
  const ValueId b = n.input(1);
  const bool enabled = n.int_attribute("broadcast", 0) != 0;
  const bool has_axis = n.has_attribute("axis");
  int64_t axis = n.int_attribute("axis", 0);
  if (!enabled || !has_axis || b == kNone) return b;
  const auto rank_a = n.rank(n.input(0)), rank_b = n.rank(b);
  if (!rank_a || !rank_b) {
    n.fail(unsupported("the old 'axis' broadcast needs operands of known rank"));
    return b;
  }
  if (axis < 0) axis += *rank_a;
  const int64_t missing = *rank_a - axis - *rank_b;
  if (axis < 0 || missing < 0) {
    n.fail(invalid_model("axis {} does not align rank {} with rank {}", axis, *rank_b, *rank_a));
    return b;
  }
  if (missing == 0) return b;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < missing; ++i) axes.push_back(*rank_b + i);
  return n.emit1(OpId::Unsqueeze, default_params(OpId::Unsqueeze), {b, n.int_constant(std::move(axes))});
}

}  // namespace tenon
