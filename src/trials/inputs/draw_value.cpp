#include "trials/inputs/draw_value.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon {

namespace {

struct IntegerRange {
  int64_t low, high;
};

// What the element type can hold; narrow integers are mostly quantized data, wide ones counts and labels.
IntegerRange usual_range(DType dtype) {
  switch (dtype) {
    case DType::Int2:
      return {-2, 1};
    case DType::UInt2:
      return {0, 3};
    case DType::Int4:
      return {-8, 7};
    case DType::UInt4:
      return {0, 15};
    case DType::Int8:
      return {-128, 127};
    case DType::UInt8:
      return {0, 255};
    default:
      return {0, 9};
  }
}

IntegerRange integer_range(DType dtype, const Accepted& accepted) {
  IntegerRange range = usual_range(dtype);
  if (!accepted.is_bounded()) return range;
  // Beyond 2^53 a double no longer tells integers apart.
  constexpr double kExact = 0x1p53;
  range.low = static_cast<int64_t>(std::ceil(std::clamp(accepted.low, -kExact, kExact)));
  range.high = static_cast<int64_t>(std::floor(std::clamp(accepted.high, -kExact, kExact)));
  const int bits = dtype_bits(dtype);
  if (is_unsigned_integer(dtype)) range.low = std::max<int64_t>(range.low, 0);
  if (is_signed_integer(dtype) && bits < 64) {
    range.low = std::max(range.low, -(int64_t{1} << (bits - 1)));
    range.high = std::min(range.high, (int64_t{1} << (bits - 1)) - 1);
  } else if (bits < 63) {
    range.high = std::min(range.high, (int64_t{1} << bits) - 1);
  }
  if (range.low > range.high) range.high = range.low;
  return range;
}

std::vector<int64_t> draw_integers(DType dtype, int64_t count, const Accepted& accepted, RandomStream& random) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  const IntegerRange range = integer_range(dtype, accepted);
  if (accepted.form == Accepted::Form::Reshape) {
    std::fill(values.begin(), values.end(), 1);
    if (!values.empty()) values[0] = -1;
    return values;
  }
  if (accepted.form == Accepted::Form::Distinct) {
    std::iota(values.begin(), values.end(), range.low);
    return values;
  }
  for (int64_t& value : values)
    value = accepted.numbers.empty() ? random.integer(range.low, range.high)
                                     : accepted.numbers[random.next() % accepted.numbers.size()];
  return values;
}

double draw_number(const Accepted& accepted, RandomStream& random) {
  const double low = accepted.is_bounded() ? accepted.low : -1, high = accepted.is_bounded() ? accepted.high : 1;
  return low + (high - low) * random.unit();
}

std::string draw_string(const Accepted& accepted, RandomStream& random) {
  static constexpr const char* kWords[] = {"ash",   "beech", "cedar", "elm",  "fir",
                                           "hazel", "maple", "oak",   "pine", "yew"};
  if (!accepted.words.empty()) return accepted.words[random.next() % accepted.words.size()];
  if (accepted.numeric_text) return std::to_string(random.integer(0, 9));
  return kWords[random.next() % std::size(kWords)];
}

// Without regard to columns.
Result<Tensor> draw_alike(DType dtype, std::vector<int64_t> dims, const Accepted& accepted, RandomStream& random,
                          const std::shared_ptr<MemoryBudget>& budget) {
  TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, std::move(dims), budget));
  if (is_integer(dtype)) {
    const std::vector<int64_t> values = draw_integers(dtype, tensor.size(), accepted, random);
    if (is_sub_byte(dtype)) {
      const std::vector<int8_t> bytes(values.begin(), values.end());
      pack_sub_byte(dtype, bytes.data(), tensor.size(), tensor.mutable_data());
      return tensor;
    }
    with_element_type(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T>)
        std::transform(values.begin(), values.end(), tensor.as_mutable<T>().begin(),
                       [](int64_t v) { return static_cast<T>(v); });
    });
    return tensor;
  }
  if (is_sub_byte(dtype)) {
    std::vector<uint8_t> bytes(static_cast<size_t>(tensor.size()));
    for (uint8_t& byte : bytes) byte = sub_byte_float_bits(dtype, draw_number(accepted, random));
    pack_sub_byte(dtype, bytes.data(), tensor.size(), tensor.mutable_data());
    return tensor;
  }
  with_element_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T& element : tensor.as_mutable<T>()) {
      if constexpr (std::is_same_v<T, std::string>)
        element = draw_string(accepted, random);
      else if constexpr (std::is_same_v<T, bool>)
        element = random.next() & 1;
      else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
        element = T(static_cast<typename T::value_type>(draw_number(accepted, random)),
                    static_cast<typename T::value_type>(draw_number(accepted, random)));
      else if constexpr (std::is_same_v<T, Float8E8M0>)
        element = T(std::exp2(draw_number(accepted, random)));
      else if constexpr (std::is_constructible_v<T, double>)
        element = static_cast<T>(draw_number(accepted, random));
    }
  });
  return tensor;
}

}  // namespace

Result<Tensor> draw_tensor(DType dtype, std::vector<int64_t> dims, const Accepted& accepted, RandomStream& random,
                           const std::shared_ptr<MemoryBudget>& budget) {
  const int64_t width = dims.empty() ? 0 : dims.back();
  TN_ASSIGN_OR_RETURN(Tensor tensor, draw_alike(dtype, std::move(dims), accepted, random, budget));
  if (tensor.size() == 0 || is_sub_byte(dtype)) return tensor;
  for (const auto& [column, limits] : accepted.columns) {
    if (column < 0 || column >= width) continue;
    Accepted both = accepted;
    both.restrict_to(limits);
    TN_ASSIGN_OR_RETURN(const Tensor drawn, draw_alike(dtype, {tensor.size() / width}, both, random, budget));
    with_element_type(dtype, [&, at = column](auto tag) {
      using T = typename decltype(tag)::type;
      const auto from = drawn.as<T>();
      const auto to = tensor.as_mutable<T>();
      for (size_t row = 0; row < from.size(); ++row)
        to[row * static_cast<size_t>(width) + static_cast<size_t>(at)] = from[row];
    });
  }
  return tensor;
}

}  // namespace tenon
