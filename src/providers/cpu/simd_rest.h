// Loads and stores of less than a vector, which touch no memory beyond it. Included once per target, inside
// HWY_BEFORE_NAMESPACE, so there is no #pragma once.
#if defined(TENON_CPU_SIMD_REST) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_SIMD_REST
#undef TENON_CPU_SIMD_REST
#else
#define TENON_CPU_SIMD_REST
#endif

#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_rest(D d, const T* from, int64_t count) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  // Masked lanes are not touched in memory.
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
#else
  HWY_ALIGN T rest[hn::MaxLanes(d)] = {};
  std::memcpy(rest, from, static_cast<size_t>(count) * sizeof(T));
  return hn::Load(d, rest);
#endif
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_rest(D d, hn::Vec<D> v, T* to, int64_t count) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, to);
#else
  HWY_ALIGN T rest[hn::MaxLanes(d)];
  hn::Store(v, d, rest);
  std::memcpy(to, rest, static_cast<size_t>(count) * sizeof(T));
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::simd
HWY_AFTER_NAMESPACE();

#endif
