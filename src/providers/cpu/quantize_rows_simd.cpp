#include <limits>

#include "providers/cpu/quantize_rows.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/quantize_rows_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/simd_rest.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::quantized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using Integers = hn::Rebind<int32_t, D>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(D()));

template <class T>
HWY_ATTR void quantize(const float* x, int64_t count, float scale, int32_t zero, T* to) {
  const D d;
  const Integers integers;
  const hn::Rebind<T, D> narrow;
  const auto divisor = hn::Set(d, scale);
  // Beyond these any zero point saturates; NaN becomes the least number.
  const auto least = hn::Set(d, -1024.0f), most = hn::Set(d, 1024.0f);
  const auto shift = hn::Set(integers, zero);
  const auto numbers = [&](auto v) HWY_ATTR {
    v = hn::Div(v, divisor);
    v = hn::IfThenElse(hn::Eq(v, v), hn::Min(hn::Max(v, least), most), least);
    return hn::DemoteTo(narrow, hn::Add(hn::NearestInt(v), shift));
  };
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) hn::StoreU(numbers(hn::LoadU(d, x + i)), narrow, to + i);
  if (i >= count) return;
  HWY_ALIGN T rest[kVector];
  hn::Store(numbers(simd::load_rest(d, x + i, count - i)), narrow, rest);
  std::memcpy(to + i, rest, static_cast<size_t>(count - i));
}

template <class T>
HWY_ATTR void dequantize(const T* x, int64_t count, float scale, int32_t zero, float* to) {
  const D d;
  const Integers integers;
  const hn::Rebind<T, D> narrow;
  const auto factor = hn::Set(d, scale);
  const auto shift = hn::Set(integers, zero);
  const auto numbers = [&](auto v) HWY_ATTR {
    return hn::Mul(hn::ConvertTo(d, hn::Sub(hn::PromoteTo(integers, v), shift)), factor);
  };
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) hn::StoreU(numbers(hn::LoadU(narrow, x + i)), d, to + i);
  if (i >= count) return;
  HWY_ALIGN T rest[kVector] = {};
  std::memcpy(rest, x + i, static_cast<size_t>(count - i));
  simd::store_rest(d, numbers(hn::Load(narrow, rest)), to + i, count - i);
}

template <class T>
constexpr QuantizedRows<T> kRows{quantize<T>, dequantize<T>};

const QuantizedRows<int8_t>& signed_rows() { return kRows<int8_t>; }
const QuantizedRows<uint8_t>& unsigned_rows() { return kRows<uint8_t>; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::quantized
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace quantized {
TENON_EXPORT(signed_rows);
TENON_EXPORT(unsigned_rows);
}  // namespace quantized
template <>
const QuantizedRows<int8_t>& quantized_rows<int8_t>(Isa isa) {
  using namespace quantized;
  return TENON_DISPATCH(signed_rows, isa)();
}
template <>
const QuantizedRows<uint8_t>& quantized_rows<uint8_t>(Isa isa) {
  using namespace quantized;
  return TENON_DISPATCH(unsigned_rows, isa)();
}
}  // namespace tenon
#endif
