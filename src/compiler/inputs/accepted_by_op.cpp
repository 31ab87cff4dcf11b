// What each op accepts as its inputs. An op that is not here accepts anything.
#include <algorithm>
#include <cmath>

#include "compiler/inputs/accepted_values.h"

namespace tenon {

namespace {

// Index into `extent` things; the first one is there even if nothing is known.
Accepted index_into(std::optional<int64_t> extent) {
  return Accepted::range(0, static_cast<double>(std::max<int64_t>(extent.value_or(1), 1) - 1));
}
// A count from 1 to `extent`.
Accepted count_up_to(std::optional<int64_t> extent) {
  return Accepted::range(1, static_cast<double>(std::max<int64_t>(extent.value_or(1), 1)));
}
Accepted axes_of(std::optional<int64_t> rank) {
  Accepted axes = index_into(rank);
  axes.form = Accepted::Form::Distinct;
  return axes;
}

// The smallest of the extents that the last axis of an index tensor addresses.
Accepted tuple_index(const ConsumerView& c, size_t data, size_t indices, int64_t first_axis) {
  std::optional<int64_t> smallest;
  const int64_t tuple = c.extent(indices, -1).value_or(1);
  for (int64_t k = 0; k < tuple; ++k) {
    const auto extent = c.extent(data, first_axis + k);
    if (!extent) return index_into(std::nullopt);
    smallest = std::min(smallest.value_or(*extent), *extent);
  }
  return index_into(smallest);
}

bool is_integer_input(const ConsumerView& c, size_t i) { return c.type(i) && is_integer(c.type(i)->dtype); }

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
    const auto [low, high] = std::minmax(out.low / *other, out.high / *other);
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
  const auto [low, high] = std::minmax(out.low * *divisor, out.high * *divisor);
  return Accepted::range(low, high);
}

Accepted power(const ConsumerView& c, size_t i) {
  if (i == 1) return Accepted::range(0, 3);
  const auto exponent = c.constant(1);
  if (exponent && *exponent == std::floor(*exponent) && *exponent >= 0) return {};
  return Accepted::range(is_integer_input(c, 0) ? 1 : 0.1, 2);
}

// The elements of the input reach the output as they are, only elsewhere.
Accepted moved(const ConsumerView& c) { return c.output(); }

Accepted cast(const ConsumerView& c) {
  const Type* from = c.type(0);
  const Type& to = c.graph.value(c.node.outputs[0]).type;
  Accepted accepted = c.output();
  accepted.words.clear();
  accepted.numeric_text = from && from->dtype == DType::String && to.dtype != DType::String;
  if (to.dtype == DType::Bool && !accepted.is_bounded()) return Accepted::range(0, 1);
  return accepted;
}

Accepted cumulative_sum(const ConsumerView& c, size_t i) {
  if (i == 1) return index_into(c.rank(0));
  const Accepted out = c.output();
  if (!out.is_bounded()) return {};
  int64_t longest = 1;
  for (int64_t axis = 0; axis < c.rank(0).value_or(0); ++axis)
    longest = std::max(longest, c.extent(0, axis).value_or(1));
  return Accepted::range(out.low / static_cast<double>(longest), out.high / static_cast<double>(longest));
}

Accepted known_words(const ConsumerView& c, const char* words, const char* numbers) {
  Accepted accepted;
  accepted.words = c.words_param(words);
  accepted.numbers = c.integers_param(numbers);
  return accepted;
}

Accepted reshape_target() {
  Accepted accepted = Accepted::range(1, 1);
  accepted.form = Accepted::Form::Reshape;
  return accepted;
}

}  // namespace

Accepted accepted_by(const ConsumerView& c, size_t i) {
  switch (c.node.op) {
    case OpId::Concat:
    case OpId::Max:
    case OpId::Min:
    case OpId::Identity:
    case OpId::Transpose:
    case OpId::Flatten:
    case OpId::DepthToSpace:
    case OpId::SpaceToDepth:
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

    case OpId::Gather:
    case OpId::GatherElements:
      return i == 0 ? moved(c) : index_into(c.extent(0, c.integer_param("axis", 0)));
    case OpId::GatherND:
      return i == 0 ? moved(c) : tuple_index(c, 0, 1, c.integer_param("batch_dims", 0));
    case OpId::ScatterElements:
      return i != 1 ? moved(c) : index_into(c.extent(0, c.integer_param("axis", 0)));
    case OpId::ScatterND:
      return i != 1 ? moved(c) : tuple_index(c, 0, 1, 0);
    case OpId::TensorScatter:
      return i < 2 ? moved(c) : Accepted::range(0, 0);
    case OpId::ArrayFeatureExtractor:
      return i == 0 ? moved(c) : index_into(c.extent(0, -1));
    case OpId::OneHot: {
      const auto depth = c.constant(1);
      if (i == 0) return index_into(depth ? static_cast<int64_t>(*depth) : 1);
      return i == 1 ? Accepted::range(1, 8) : Accepted{};
    }
    case OpId::NegativeLogLikelihoodLoss:
    case OpId::SoftmaxCrossEntropyLoss:
      return i == 1 ? index_into(c.extent(0, 1)) : Accepted{};
    case OpId::RotaryEmbedding:
      return i == 3 ? index_into(c.extent(1, 0)) : Accepted{};
    case OpId::RoiAlign:
      return i == 2 ? index_into(c.extent(0, 0)) : Accepted{};
    case OpId::MaxUnpool:
      return i == 1 ? Accepted::range(0, 0) : Accepted{};

    case OpId::ReverseSequence:
      return i == 0 ? moved(c) : count_up_to(c.extent(0, c.integer_param("time_axis", 0)));
    case OpId::LSTM:
    case OpId::GRU:
    case OpId::RNN:
      return i == 4 ? count_up_to(c.extent(0, c.integer_param("layout", 0))) : Accepted{};
    case OpId::TopK:
      return i == 0 ? moved(c) : count_up_to(c.extent(0, c.integer_param("axis", -1)));
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

    case OpId::LabelEncoder:
      return known_words(c, "keys_tensor", "keys_tensor");
    case OpId::OneHotEncoder:
      return known_words(c, "cats_strings", "cats_int64s");
    case OpId::DictVectorizer:
      return known_words(c, "string_vocabulary", "int64_vocabulary");
    default:
      return {};
  }
}

}  // namespace tenon
