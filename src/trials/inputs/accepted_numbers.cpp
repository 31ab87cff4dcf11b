// Inputs that are data: what comes out decides, and where a function is defined.
#include <cmath>

#include "trials/inputs/accepted_rules.h"

namespace tenon {

namespace {

// x + y, where the sum may hold `out`.
Accepted addend(const ConsumerView& c, size_t i) {
  Accepted out = c.output();
  if (!out.is_bounded()) return {};
  if (auto other = c.constant(1 - i)) return Accepted::range(out.low - *other, out.high - *other);
  return Accepted::range(out.low / 2, out.high / 2);
}

// x - y.
Accepted minuend_or_subtrahend(const ConsumerView& c, size_t i) {
  const Accepted out = c.output();
  const auto other = c.constant(1 - i);
  // 1 - x is how masks and probabilities are turned around.
  if (i == 1 && other && *other == 1 && !out.is_bounded()) return Accepted::range(0, 1);
  if (!out.is_bounded()) return {};
  if (other)
    return i == 0 ? Accepted::range(out.low + *other, out.high + *other)
                  : Accepted::range(*other - out.high, *other - out.low);
  const double middle = (out.low + out.high) / 2;
  return i == 0 ? Accepted::range(middle, out.high) : Accepted::range(0, middle - out.low);
}

// x * y.
Accepted factor(const ConsumerView& c, size_t i) {
  const Accepted out = c.output();
  if (!out.is_bounded()) return {};
  const auto other = c.constant(1 - i);
  if (other && *other != 0) {
    const auto [low, high] = std::minmax({out.low / *other, out.high / *other});
    return Accepted::range(low, high);
  }
  return Accepted::range(std::max(0.0, out.low), std::sqrt(std::max(0.0, out.high)));
}

// x / y.
Accepted dividend_or_divisor(const ConsumerView& c, size_t i) {
  if (i == 1) return is_integer_input(c, 1) ? Accepted::range(1, 9) : Accepted::range(0.5, 2);
  const Accepted out = c.output();
  const auto divisor = c.constant(1);
  if (!out.is_bounded() || !divisor) return {};
  const auto [low, high] = std::minmax({out.low * *divisor, out.high * *divisor});
  return Accepted::range(low, high);
}

Accepted power(const ConsumerView& c, size_t i) {
  if (i == 1) return Accepted::range(0, 3);
  const auto exponent = c.constant(1);
  if (exponent && *exponent == std::floor(*exponent) && *exponent >= 0) return {};
  return Accepted::range(is_integer_input(c, 0) ? 1 : 0.1, 2);
}

Accepted cast(const ConsumerView& c) {
  const Type* from = c.type(0);
  const Type& to = c.graph.value(c.node.outputs[0]).type;
  Accepted accepted = c.output();
  accepted.words.clear();
  accepted.numeric_text = from && from->dtype == DType::String && to.dtype != DType::String;
  if (to.dtype == DType::Bool && !accepted.is_bounded()) return Accepted::range(0, 1);
  return accepted;
}

}  // namespace

std::optional<Accepted> accepted_as_number(const ConsumerView& c, size_t i) {
  switch (c.node.op) {
    case OpId::Concat:
    case OpId::Max:
    case OpId::Min:
    case OpId::Identity:
    case OpId::Transpose:
    case OpId::Flatten:
    case OpId::DepthToSpace:
    case OpId::SpaceToDepth:
    case OpId::UnfoldTensor:
    case OpId::Round:
    case OpId::Floor:
    case OpId::Ceil:
    case OpId::Relu:
      return moved(c);
    case OpId::Where:
      return i > 0 ? moved(c) : Accepted{};
    case OpId::Clip:
    case OpId::Compress:
    case OpId::Split:
      return i == 0 ? moved(c) : Accepted{};
    case OpId::Cast:
      return cast(c);
    case OpId::CastLike:
      return i == 0 ? cast(c) : Accepted{};
    case OpId::Neg:
      return Accepted::range(-c.output().high, -c.output().low);
    case OpId::Add:
      return addend(c, i);
    case OpId::Sub:
      return minuend_or_subtrahend(c, i);
    case OpId::Mul:
      return factor(c, i);
    case OpId::Div:
    case OpId::Mod:
      return dividend_or_divisor(c, i);
    case OpId::Pow:
      return power(c, i);
    case OpId::BitShift:
      return i == 1 && c.type(1) ? index_into(dtype_bits(c.type(1)->dtype)) : Accepted{};
    case OpId::Sqrt:
      return Accepted::range(0, 4);
    case OpId::Log:
      return Accepted::range(0.01, 4);
    case OpId::Reciprocal:
      return Accepted::range(0.5, 2);
    case OpId::Asin:
    case OpId::Acos:
    case OpId::Atanh:
      return Accepted::range(-0.9, 0.9);
    case OpId::Acosh:
      return Accepted::range(1, 4);
    case OpId::Bernoulli:
      return Accepted::range(0, 1);
    case OpId::BatchNormalization:
      return i == 4 ? Accepted::range(0.5, 2) : Accepted{};
    case OpId::Dropout:
      return i == 0 ? moved(c) : i == 1 ? Accepted::range(0, 0.9) : Accepted{};
    case OpId::QuantizeLinear:
    case OpId::DequantizeLinear:
      return i == 1 ? Accepted::range(0.01, 0.1) : Accepted{};
    case OpId::SequenceConstruct:
    case OpId::Optional:
    case OpId::OptionalGetElement:
    case OpId::ConcatFromSequence:
      return moved(c);
    default:
      return std::nullopt;
  }
}

}  // namespace tenon
