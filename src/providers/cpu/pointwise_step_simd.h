// How steps of pointwise expressions are written: blocks of eight vectors, in registers from step to step. Included
// once per target, inside HWY_BEFORE_NAMESPACE, so there is no #pragma once.
#if defined(TENON_CPU_POINTWISE_STEP) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_POINTWISE_STEP
#undef TENON_CPU_POINTWISE_STEP
#else
#define TENON_CPU_POINTWISE_STEP
#endif

#include <hwy/highway.h>

#include "providers/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::steps {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(D()));
constexpr int64_t kBlock = 8 * kVector;
static_assert(kBlock <= kMostBlockElements);

// Eight vectors are as many as calling conventions pass in registers.
#define TENON_STEP_PARAMETERS const PointwiseStep *step, size_t at, V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7
// Ends a step. Compilers make it a jump; without optimization it is a call, as deep as an expression is long.
#define TENON_NEXT_STEP \
  return reinterpret_cast<StepFunction>(step[1].function)(step + 1, at, v0, v1, v2, v3, v4, v5, v6, v7)
using StepFunction = void (*)(TENON_STEP_PARAMETERS);

// Registers are too few for what compilers make of eight vectors when they compute them side by side. One after the
// other they need no memory; processors see by themselves what they can do at once.
#undef TENON_COMPUTE_BEFORE
#if HWY_TARGET == HWY_AVX3
#define TENON_COMPUTE_BEFORE(a, b) __asm__("" : "+v"(a.raw), "+v"(b.raw))
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
#define TENON_COMPUTE_BEFORE(a, b) __asm__("" : "+x"(a.raw), "+x"(b.raw))
#else
#define TENON_COMPUTE_BEFORE(a, b)
#endif

// Gives each vector the value of an expression of x, its value before, and i, its first element's number in the block.
#define TENON_SET_VECTOR(k, ...)                        \
  {                                                     \
    [[maybe_unused]] const V x = v##k;                  \
    [[maybe_unused]] constexpr int64_t i = k * kVector; \
    v##k = __VA_ARGS__;                                 \
  }
#define TENON_SET_VECTORS(...)        \
  {                                   \
    TENON_SET_VECTOR(0, __VA_ARGS__); \
    TENON_COMPUTE_BEFORE(v0, v1);     \
    TENON_SET_VECTOR(1, __VA_ARGS__); \
    TENON_COMPUTE_BEFORE(v1, v2);     \
    TENON_SET_VECTOR(2, __VA_ARGS__); \
    TENON_COMPUTE_BEFORE(v2, v3);     \
    TENON_SET_VECTOR(3, __VA_ARGS__); \
    TENON_COMPUTE_BEFORE(v3, v4);     \
    TENON_SET_VECTOR(4, __VA_ARGS__); \
    TENON_COMPUTE_BEFORE(v4, v5);     \
    TENON_SET_VECTOR(5, __VA_ARGS__); \
    TENON_COMPUTE_BEFORE(v5, v6);     \
    TENON_SET_VECTOR(6, __VA_ARGS__); \
    TENON_COMPUTE_BEFORE(v6, v7);     \
    TENON_SET_VECTOR(7, __VA_ARGS__); \
  }
// A statement for each vector x.
#define TENON_WITH_VECTOR(k, ...)                       \
  {                                                     \
    [[maybe_unused]] constexpr int64_t i = k * kVector; \
    [[maybe_unused]] const V x = v##k;                  \
    __VA_ARGS__;                                        \
  }
#define TENON_FOR_VECTORS(...)         \
  {                                    \
    TENON_WITH_VECTOR(0, __VA_ARGS__); \
    TENON_WITH_VECTOR(1, __VA_ARGS__); \
    TENON_WITH_VECTOR(2, __VA_ARGS__); \
    TENON_WITH_VECTOR(3, __VA_ARGS__); \
    TENON_WITH_VECTOR(4, __VA_ARGS__); \
    TENON_WITH_VECTOR(5, __VA_ARGS__); \
    TENON_WITH_VECTOR(6, __VA_ARGS__); \
    TENON_WITH_VECTOR(7, __VA_ARGS__); \
  }

// Where an operand of the block is.
template <class T = float>
HWY_INLINE T* operand(const PointwiseStep* step, size_t at, int k) {
  return reinterpret_cast<T*>(step->places[k]) + (at & step->moves[k]);
}
HWY_INLINE V number_operand(const PointwiseStep* step, int k) {
  return hn::Set(D(), *reinterpret_cast<const float*>(step->places[k]));
}

HWY_INLINE PointwiseStep::Function function_of(StepFunction f) { return reinterpret_cast<PointwiseStep::Function>(f); }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::steps
HWY_AFTER_NAMESPACE();

#endif
