// Elements of inputs and results of pointwise expressions that are not float32.
#include <cstring>

#include "providers/cpu/pointwise_simd.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pointwise_convert_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::pointwise_convert {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(D()));

// Each reads and writes one vector.
struct HalfFloats {
  using H = hn::Rebind<hwy::float16_t, D>;
  using Element = hwy::float16_t;
#if HWY_TARGET != HWY_AVX2 && HWY_TARGET != HWY_AVX3 && HWY_TARGET != HWY_NEON
  // Without instructions for it Highway truncates, and takes infinity for a number.
  static HWY_INLINE V load(const Element* from) {
    const hn::RebindToSigned<D> i;
    const auto half = hn::PromoteTo(i, hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(from)));
    const auto size = hn::And(half, hn::Set(i, 0x7fff));
    const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(i, 0x8000)));
    auto bits = hn::Add(hn::ShiftLeft<13>(size), hn::Set(i, 112 << 23));
    bits = hn::IfThenElse(hn::Gt(size, hn::Set(i, 0x7bff)), hn::Or(bits, hn::Set(i, 0x7f800000)), bits);
    const auto small = hn::BitCast(i, hn::Mul(hn::ConvertTo(D(), size), hn::Set(D(), 0x1p-24f)));
    bits = hn::IfThenElse(hn::Lt(size, hn::Set(i, 0x400)), small, bits);
    return hn::BitCast(D(), hn::Or(bits, sign));
  }
  static HWY_INLINE void store(V x, Element* to) {
    using I = hn::RebindToSigned<D>;
    const I i;
    const auto bits = hn::BitCast(i, x), size = hn::BitCast(i, hn::Abs(x));
    const auto sign =
        hn::And(hn::BitCast(i, hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<D>(), bits))), hn::Set(i, 0x8000));
    const auto odd = hn::And(hn::ShiftRight<13>(size), hn::Set(i, 1));
    const auto normal =
        hn::ShiftRight<13>(hn::Sub(hn::Add(size, hn::Add(odd, hn::Set(i, 0xfff))), hn::Set(i, 112 << 23)));
    // Adding a half makes the unit of the sum that of the smallest half float.
    const auto small = hn::Sub(hn::BitCast(i, hn::Add(hn::Abs(x), hn::Set(D(), 0.5f))), hn::Set(i, 0x3f000000));
    auto half = hn::IfThenElse(hn::Lt(size, hn::Set(i, 0x38800000)), small, normal);
    half = hn::IfThenElse(hn::Gt(size, hn::Set(i, 0x477fffff)), hn::Set(i, 0x7c00), half);
    half = hn::IfThenElse(hn::Gt(size, hn::Set(i, 0x7f800000)), hn::Set(i, 0x7e00), half);
    const hn::Rebind<uint16_t, D> h;
    hn::StoreU(hn::DemoteTo(h, hn::Or(half, sign)), h, reinterpret_cast<uint16_t*>(to));
  }
#else
  static HWY_INLINE V load(const Element* from) { return hn::PromoteTo(D(), hn::LoadU(H(), from)); }
  static HWY_INLINE void store(V x, Element* to) { hn::StoreU(hn::DemoteTo(H(), x), H(), to); }
#endif
};

// 16 high bits, rounded to even. NaN keeps a bit that says so.
struct BFloats {
  using U = hn::RebindToUnsigned<D>;
  using H = hn::Rebind<uint16_t, D>;
  using Element = uint16_t;
  static HWY_INLINE V load(const uint16_t* from) {
    return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(U(), hn::LoadU(H(), from))));
  }
  static HWY_INLINE void store(V x, uint16_t* to) {
    const U u;
    const auto bits = hn::BitCast(u, x);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(u, 0x7fff)));
    const auto nan = hn::Or(bits, hn::Set(u, 0x00400000));
    const auto is_nan = hn::RebindMask(u, hn::Not(hn::Eq(x, x)));
    const hn::RebindToSigned<D> i;
    hn::StoreU(hn::DemoteTo(H(), hn::BitCast(i, hn::ShiftRight<16>(hn::IfThenElse(is_nan, nan, rounded)))), H(), to);
  }
};

struct Truths {
  using I = hn::RebindToSigned<D>;
  using B = hn::Rebind<uint8_t, D>;
  using Element = uint8_t;
  static HWY_INLINE V load(const uint8_t* from) { return hn::ConvertTo(D(), hn::PromoteTo(I(), hn::LoadU(B(), from))); }
  static HWY_INLINE void store(V x, uint8_t* to) { hn::StoreU(hn::DemoteTo(B(), hn::ConvertTo(I(), x)), B(), to); }
};

// What is left of a vector, which the compiler cannot know to be less than one.
HWY_INLINE size_t rest_of(int64_t count) { return static_cast<size_t>(count) % static_cast<size_t>(kVector); }

template <class Kind>
void load_all(const void* from, float* to, int64_t count) {
  const auto* x = static_cast<const typename Kind::Element*>(from);
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) hn::StoreU(Kind::load(x + i), D(), to + i);
  if (i >= count) return;
  typename Kind::Element rest[kVector] = {};
  HWY_ALIGN float wide[kVector];
  std::memcpy(rest, x + i, rest_of(count - i) * sizeof(rest[0]));
  hn::Store(Kind::load(rest), D(), wide);
  std::memcpy(to + i, wide, rest_of(count - i) * sizeof(float));
}

template <class Kind>
void store_all(const float* from, void* to, int64_t count) {
  auto* y = static_cast<typename Kind::Element*>(to);
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) Kind::store(hn::LoadU(D(), from + i), y + i);
  if (i >= count) return;
  typename Kind::Element rest[kVector];
  HWY_ALIGN float wide[kVector] = {};
  std::memcpy(wide, from + i, rest_of(count - i) * sizeof(float));
  Kind::store(hn::Load(D(), wide), rest);
  std::memcpy(y + i, rest, rest_of(count - i) * sizeof(rest[0]));
}

LoadFunction pick_load(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return load_all<HalfFloats>;
    case DType::BFloat16:
      return load_all<BFloats>;
    case DType::Bool:
      return load_all<Truths>;
    default:
      return nullptr;
  }
}

StoreFunction pick_store(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return store_all<HalfFloats>;
    case DType::BFloat16:
      return store_all<BFloats>;
    case DType::Bool:
      return store_all<Truths>;
    default:
      return nullptr;
  }
}

// The values that the elements of a type can hold.
template <class Kind>
void round_all(const float* const* operands, float* out, int64_t count, const float*) {
  const float* x = operands[0];
  typename Kind::Element narrow[kVector];
  HWY_ALIGN float wide[kVector] = {};
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) {
    Kind::store(hn::LoadU(D(), x + i), narrow);
    hn::StoreU(Kind::load(narrow), D(), out + i);
  }
  if (i >= count) return;
  std::memcpy(wide, x + i, rest_of(count - i) * sizeof(float));
  Kind::store(hn::Load(D(), wide), narrow);
  hn::Store(Kind::load(narrow), D(), wide);
  std::memcpy(out + i, wide, rest_of(count - i) * sizeof(float));
}

void stream_all(const float* from, void* to, int64_t count) {
  auto* y = static_cast<float*>(to);
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) hn::Stream(hn::LoadU(D(), from + i), D(), y + i);
  std::memcpy(y + i, from + i, rest_of(count - i) * sizeof(float));
}

StoreFunction pick_stream() { return stream_all; }

PointwiseFunction pick_rounding(DType dtype) {
  return dtype == DType::Float16 ? round_all<HalfFloats> : round_all<BFloats>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::pointwise_convert
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace pointwise_convert {
TENON_EXPORT(pick_load);
TENON_EXPORT(pick_store);
TENON_EXPORT(pick_rounding);
TENON_EXPORT(pick_stream);
}  // namespace pointwise_convert
LoadFunction load_function(DType dtype, Isa isa) {
  using namespace pointwise_convert;
  return TENON_DISPATCH(pick_load, isa)(dtype);
}
StoreFunction store_function(DType dtype, Isa isa) {
  using namespace pointwise_convert;
  return TENON_DISPATCH(pick_store, isa)(dtype);
}
StoreFunction stream_function(Isa isa) {
  using namespace pointwise_convert;
  return TENON_DISPATCH(pick_stream, isa)();
}
void finish_streams() { hwy::FlushStream(); }
PointwiseFunction rounding_tile(DType dtype, Isa isa) {
  using namespace pointwise_convert;
  return TENON_DISPATCH(pick_rounding, isa)(dtype);
}
}  // namespace tenon
#endif
