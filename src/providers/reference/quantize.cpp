#include "ops/quantize.h"

#include <algorithm>

#include "base/checked_math.h"
#include "providers/reference/convert.h"
#include "providers/reference/element_access.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// Which entry of the scale belongs to an element.
class Granularity {
 public:
  Granularity(Dims x, Dims scale, int64_t axis, int64_t block_size)
      : split_(x, axis_of(x, axis, block_size)), block_(block_size) {
    int64_t entries = 1;
    for (int64_t d : scale) entries *= d;
    per_tensor_ = entries == 1;
    if (block_ > 0 && !x.empty()) blocks_ = ceil_div(split_.extent, block_);
  }
  int64_t entry(int64_t element) const {
    if (per_tensor_) return 0;
    const int64_t k = element / split_.inner % split_.extent;
    if (block_ == 0) return k;
    return (element / split_.inner / split_.extent * blocks_ + k / block_) * split_.inner + element % split_.inner;
  }

 private:
  static int64_t axis_of(Dims x, int64_t axis, int64_t block_size) {
    const auto rank = static_cast<int64_t>(x.size());
    if (rank == 1 && block_size == 0) return 0;
    return axis < 0 ? axis + rank : axis;
  }
  AxisSplit split_;
  int64_t block_, blocks_ = 1;
  bool per_tensor_ = true;
};

// A quotient in the precision that the division is done in.
double rounded_to(DType precision, double x) {
  switch (precision) {
    case DType::Float16:
      return static_cast<double>(Float16(x));
    case DType::BFloat16:
      return static_cast<double>(BFloat16(x));
    case DType::Float64:
      return x;
    default:
      return static_cast<float>(x);
  }
}

// The number of a quantized type: integers round half to even before the zero point is added.
template <class T>
T quantized(double quotient, double zero, bool saturate) {
  if constexpr (std::is_same_v<T, Float4E2M1> || std::is_same_v<T, Float6E2M3> || std::is_same_v<T, Float6E3M2>)
    return T(quotient + zero);
  else if constexpr (is_float_element<T>)
    return T(quotient + zero, saturate ? Overflow::Saturate : Overflow::Special);
  else
    return saturate_to<T>(std::nearbyint(quotient) + zero);
}

Status quantize(KernelContext& c) {
  const auto& p = c.params<QuantizeLinearParams>();
  const TensorView &x = c.in(0), &scale = c.in(1), &out = c.out(0);
  DType precision = p.precision != DType::Undefined ? p.precision : scale.dtype;
  if (precision == DType::Float8E8M0) precision = x.dtype;  // an exponent alone cannot divide
  const Granularity granularity(x.dims, scale.dims, p.axis, p.block_size);
  return dispatch<int8_t, uint8_t, int16_t, uint16_t, Int4, UInt4, Int2, UInt2, Float8E4M3FN, Float8E4M3FNUZ,
                  Float8E5M2, Float8E5M2FNUZ, Float4E2M1, Float6E2M3, Float6E3M2>(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* y = static_cast<T*>(out.data);
    for_each_index(x.size(), [&](int64_t i) {
      const int64_t entry = granularity.entry(i);
      const double value = rounded_to(precision, number_at(x, i)), divisor = number_at(scale, entry);
      const double zero = c.has(2) ? number_at(c.in(2), entry) : 0;
      y[i] = quantized<T>(rounded_to(precision, value / divisor), zero, p.saturate);
    });
    return Status();
  });
}

Status dequantize(KernelContext& c) {
  const auto& p = c.params<DequantizeLinearParams>();
  const TensorView &x = c.in(0), &scale = c.in(1), &out = c.out(0);
  const Granularity granularity(x.dims, scale.dims, p.axis, p.block_size);
  for_each_index(x.size(), [&](int64_t i) {
    const int64_t entry = granularity.entry(i);
    const double zero = c.has(2) ? number_at(c.in(2), entry) : 0;
    store_number(out, i, (number_at(x, i) - zero) * number_at(scale, entry));
  });
  return {};
}

// All in single precision, as the definition is written: scale and zero point from the range, which includes zero.
Status quantize_dynamically(KernelContext& c) {
  auto x = c.in(0).as<float>();
  float low = 0, high = 0;
  for_each_index(c.in(0).size(), [&](int64_t i) {
    low = std::min(low, x[static_cast<size_t>(i)]);
    high = std::max(high, x[static_cast<size_t>(i)]);
  });
  const float scale = high == low ? 1.0f : (high - low) / 255.0f;
  const auto zero = saturate_to<uint8_t>(std::nearbyint(std::clamp(-low / scale, 0.0f, 255.0f)));
  if (c.wants(0)) {
    auto y = c.out(0).as<uint8_t>();
    for_each_index(c.in(0).size(), [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      y[at] = quantized<uint8_t>(x[at] / scale, zero, true);
    });
  }
  if (c.wants(1)) c.out(1).as<float>()[0] = scale;
  if (c.wants(2)) c.out(2).as<uint8_t>()[0] = zero;
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::QuantizeLinear>() {
  return quantize;
}

template <>
KernelFunction reference_kernel<OpId::DequantizeLinear>() {
  return dequantize;
}

template <>
KernelFunction reference_kernel<OpId::DynamicQuantizeLinear>() {
  return quantize_dynamically;
}

}  // namespace tenon
