// Inputs that say how large, how often or along which axis.
#include "trials/inputs/accepted_rules.h"

namespace tenon {

namespace {

Accepted cumulative_sum(const ConsumerView& c, size_t i) {
  if (i == 1) return index_into(c.rank(0));
  const Accepted out = c.output();
  if (!out.is_bounded()) return {};
  int64_t longest = 1;
  for (int64_t axis = 0; axis < c.rank(0).value_or(0); ++axis)
    longest = std::max(longest, c.extent(0, axis).value_or(1));
  return Accepted::range(out.low / static_cast<double>(longest), out.high / static_cast<double>(longest));
}

// Resize: X, roi, scales, sizes; Upsample: X, scales.
Accepted resize_part(const ConsumerView& c, size_t i) {
  const size_t scales = c.node.op == OpId::Resize ? 2 : 1;
  if (i == scales) return Accepted::range(1, 2);
  return i == 3 ? Accepted::range(1, 8) : Accepted{};
}

Accepted reshape_target() {
  Accepted accepted = Accepted::range(1, 1);
  accepted.form = Accepted::Form::Reshape;
  return accepted;
}

}  // namespace

std::optional<Accepted> accepted_as_shape(const ConsumerView& c, size_t i) {
  switch (c.node.op) {
    case OpId::CumSum:
      return cumulative_sum(c, i);
    case OpId::CumProd:
      return i == 1 ? index_into(c.rank(0)) : Accepted{};
    case OpId::Reshape:
      return i == 0 ? moved(c) : reshape_target();
    case OpId::Expand:
      return i == 0 ? moved(c) : Accepted::range(1, 1);
    case OpId::Tile:
      return i == 0 ? moved(c) : Accepted::range(1, 3);
    case OpId::ConstantOfShape:
    case OpId::CenterCropPad:
      return i == 1 || c.node.op == OpId::ConstantOfShape ? Accepted::range(1, 4) : Accepted{};
    case OpId::Resize:
      return resize_part(c, i);
    case OpId::Loop:
      return i == 0 ? Accepted::range(0, 8) : Accepted{};
    case OpId::Range:
      return i == 0 ? Accepted::range(0, 2) : i == 1 ? Accepted::range(3, 8) : Accepted::range(1, 2);
    case OpId::Pad:
      return i == 0 ? moved(c) : i == 1 ? Accepted::range(0, 2) : i == 3 ? axes_of(c.rank(0)) : Accepted{};
    case OpId::Slice:
      return i == 0   ? moved(c)
             : i == 1 ? Accepted::range(0, 0)
             : i == 2 ? Accepted::range(1, 4)
             : i == 3 ? axes_of(c.rank(0))
                      : Accepted::range(1, 2);
    case OpId::Trilu:
      return i == 0 ? moved(c) : Accepted::range(-2, 2);
    case OpId::Squeeze:
    case OpId::Unsqueeze:
      return i == 0 ? moved(c) : axes_of(c.rank(0));
    case OpId::ReduceMax:
    case OpId::ReduceMin:
      return i == 0 ? moved(c) : axes_of(c.rank(0));
    case OpId::ReduceL1:
    case OpId::ReduceL2:
    case OpId::ReduceLogSumExp:
    case OpId::ReduceMean:
    case OpId::ReduceProd:
    case OpId::ReduceSum:
    case OpId::ReduceSumSquare:
      return i == 1 ? axes_of(c.rank(0)) : Accepted{};
    case OpId::BlackmanWindow:
    case OpId::HammingWindow:
    case OpId::HannWindow:
      return Accepted::range(4, 16);
    default:
      return std::nullopt;
  }
}

}  // namespace tenon
