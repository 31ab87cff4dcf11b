// Steps that load and store elements of pointwise expressions, and round them to narrow floats.
#include "providers/cpu/pointwise_simd.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pointwise_convert_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include "providers/cpu/pointwise_step_simd.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::pointwise_convert {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using namespace tenon::steps::HWY_NAMESPACE;

// Each reads and writes one vector.
struct Floats {
  using Element = float;
  static HWY_INLINE V load(const float* from) { return hn::LoadU(D(), from); }
  static HWY_INLINE void store(V x, float* to) { hn::StoreU(x, D(), to); }
};

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
  static HWY_INLINE V rounded(V x) {
    Element narrow[kVector];
    store(x, narrow);
    return load(narrow);
  }
#else
  static HWY_INLINE V load(const Element* from) { return hn::PromoteTo(D(), hn::LoadU(H(), from)); }
  static HWY_INLINE void store(V x, Element* to) { hn::StoreU(hn::DemoteTo(H(), x), H(), to); }
  static HWY_INLINE V rounded(V x) { return hn::PromoteTo(D(), hn::DemoteTo(H(), x)); }
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
    const hn::RebindToSigned<D> i;
    hn::StoreU(hn::DemoteTo(H(), hn::BitCast(i, hn::ShiftRight<16>(rounded_bits(x)))), H(), to);
  }
  static HWY_INLINE V rounded(V x) { return hn::BitCast(D(), hn::And(rounded_bits(x), hn::Set(U(), 0xffff0000))); }

 private:
  static HWY_INLINE hn::Vec<U> rounded_bits(V x) {
    const U u;
    const auto bits = hn::BitCast(u, x);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(u, 0x7fff)));
    const auto nan = hn::Or(bits, hn::Set(u, 0x00400000));
    const auto is_nan = hn::RebindMask(u, hn::Not(hn::Eq(x, x)));
    return hn::IfThenElse(is_nan, nan, rounded);
  }
};

struct Truths {
  using I = hn::RebindToSigned<D>;
  using B = hn::Rebind<uint8_t, D>;
  using Element = uint8_t;
  static HWY_INLINE V load(const uint8_t* from) { return hn::ConvertTo(D(), hn::PromoteTo(I(), hn::LoadU(B(), from))); }
  static HWY_INLINE void store(V x, uint8_t* to) { hn::StoreU(hn::DemoteTo(B(), hn::ConvertTo(I(), x)), B(), to); }
};

template <class Kind>
void load(TENON_STEP_PARAMETERS) {
  const auto* from = operand<typename Kind::Element>(step, at, 0);
  TENON_SET_VECTORS(Kind::load(from + i))
  TENON_NEXT_STEP;
}

void load_number(TENON_STEP_PARAMETERS) {
  const V y = number_operand(step, 0);
  TENON_SET_VECTORS(y)
  TENON_NEXT_STEP;
}

template <class Kind>
void store(TENON_STEP_PARAMETERS) {
  auto* to = operand<typename Kind::Element>(step, at, 0);
  TENON_FOR_VECTORS(Kind::store(x, to + i))
  TENON_NEXT_STEP;
}

void stream(TENON_STEP_PARAMETERS) {
  float* to = operand(step, at, 0);
  TENON_FOR_VECTORS(hn::Stream(x, D(), to + i))
  TENON_NEXT_STEP;
}

// The values that the elements of a type can hold.
template <class Kind>
void round(TENON_STEP_PARAMETERS) {
  TENON_SET_VECTORS(Kind::rounded(x))
  TENON_NEXT_STEP;
}

PointwiseStep::Function pick_load(DType dtype) {
  switch (dtype) {
    case DType::Float32:
      return function_of(load<Floats>);
    case DType::Float16:
      return function_of(load<HalfFloats>);
    case DType::BFloat16:
      return function_of(load<BFloats>);
    case DType::Bool:
      return function_of(load<Truths>);
    default:
      return nullptr;
  }
}

PointwiseStep::Function pick_store(DType dtype) {
  switch (dtype) {
    case DType::Float32:
      return function_of(store<Floats>);
    case DType::Float16:
      return function_of(store<HalfFloats>);
    case DType::BFloat16:
      return function_of(store<BFloats>);
    case DType::Bool:
      return function_of(store<Truths>);
    default:
      return nullptr;
  }
}

PointwiseStep::Function pick_load_number() { return function_of(load_number); }
PointwiseStep::Function pick_stream() { return function_of(stream); }
PointwiseStep::Function pick_rounding(DType dtype) {
  return dtype == DType::Float16 ? function_of(round<HalfFloats>) : function_of(round<BFloats>);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::pointwise_convert
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace pointwise_convert {
TENON_EXPORT(pick_load);
TENON_EXPORT(pick_load_number);
TENON_EXPORT(pick_store);
TENON_EXPORT(pick_stream);
TENON_EXPORT(pick_rounding);
}  // namespace pointwise_convert

using namespace pointwise_convert;
PointwiseStep::Function load_step(DType dtype, Isa isa) { return TENON_DISPATCH(pick_load, isa)(dtype); }
PointwiseStep::Function load_number_step(Isa isa) { return TENON_DISPATCH(pick_load_number, isa)(); }
PointwiseStep::Function store_step(DType dtype, Isa isa) { return TENON_DISPATCH(pick_store, isa)(dtype); }
PointwiseStep::Function stream_step(Isa isa) { return TENON_DISPATCH(pick_stream, isa)(); }
PointwiseStep::Function rounding_step(DType dtype, Isa isa) { return TENON_DISPATCH(pick_rounding, isa)(dtype); }
void finish_streams() { hwy::FlushStream(); }
}  // namespace tenon
#endif
