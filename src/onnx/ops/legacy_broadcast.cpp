#include "onnx/ops/legacy_broadcast.h"

#include "onnx/ops/any_rank.h"

namespace tenon {

ValueId legacy_broadcast_operand(ImportNode& n) {
  const ValueId b = n.input(1);
  const bool enabled = n.int_attribute("broadcast", 0) != 0;
  const bool has_axis = n.has_attribute("axis");
  int64_t axis = n.int_attribute("axis", 0);
  if (!enabled || !has_axis || b == kNone) return b;
  const auto rank_a = n.rank(n.input(0)), rank_b = n.rank(b);
  if (!rank_a || !rank_b) {
    // As many axes as are left behind the last one of b.
    const auto minus = [&](ValueId x, ValueId y) { return n.emit1(OpId::Sub, default_params(OpId::Sub), {x, y}); };
    const ValueId from = axis < 0 ? n.int_constant({-axis}) : minus(rank_value(n, n.input(0)), n.int_constant({axis}));
    return insert_open_axes(n, b, kEnd, minus(from, rank_value(n, b)));
  }
  if (axis < 0) axis += *rank_a;
  const int64_t missing = *rank_a - axis - *rank_b;
  if (axis < 0 || missing < 0) {
    n.fail(invalid_model("with axis {}, rank {} cannot be aligned with rank {}", axis, *rank_b, *rank_a));
    return b;
  }
  return insert_axes(n, b, kEnd, missing);
}

}  // namespace tenon
