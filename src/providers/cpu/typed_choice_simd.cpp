// Comparisons, choices and casts of integers, truth values and doubles, a run of elements at a time.
#include <type_traits>

#include "providers/cpu/simd_targets.h"
#include "providers/cpu/typed_elements.h"
#include "providers/reference/convert.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/typed_choice_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/typed_loops_simd.h"

HWY_BEFORE_NAMESPACE();
#ifndef __clang__
// Vectors of elements of several sizes, too.
#pragma GCC optimize("vect-cost-model=dynamic")
#endif
namespace tenon::typed_choice_loops {
namespace HWY_NAMESPACE {
using namespace tenon::typed::HWY_NAMESPACE;

// Operations as functors: a lambda would not be compiled for the target.
#define COMPARISON(name, sign)                                     \
  template <class T>                                               \
  struct name {                                                    \
    static HWY_INLINE uint8_t apply(T x, T y) { return x sign y; } \
  };
COMPARISON(Equal, ==)
COMPARISON(Greater, >)
COMPARISON(GreaterOrEqual, >=)
COMPARISON(Less, <)
COMPARISON(LessOrEqual, <=)
#undef COMPARISON

template <class From, class To>
struct Cast {
  static HWY_INLINE To apply(From x) {
    if constexpr (std::is_floating_point_v<From> && !std::is_floating_point_v<To>)
      return from_double<To>(static_cast<double>(x));
    else
      return static_cast<To>(x);
  }
};
template <class From>
struct CastToTruth {
  static HWY_INLINE uint8_t apply(From x) { return x != 0; }
};

template <class T>
void choice_loop(const void* const* operands, void* out, int64_t count) {
  const auto* condition = static_cast<const uint8_t*>(operands[0]);
  const auto *a = static_cast<const T*>(operands[1]), *b = static_cast<const T*>(operands[2]);
  auto* r = static_cast<T*>(out);
  int64_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    TENON_INDEPENDENT
    for (int64_t k = 0; k < kRun; ++k) {
      const T x = a[i + k], y = b[i + k];
      r[i + k] = condition[i + k] != 0 ? x : y;
    }
  }
  for (; i < count; ++i) r[i] = condition[i] != 0 ? a[i] : b[i];
}

TypedFunction pick_comparison(OpId op, DType dtype) {
  switch (op) {
#define COMPARISON(name) \
  case OpId::name:       \
    return with_number_type(dtype, []<class T>(T) -> TypedFunction { return binary_loop<name<T>, T, uint8_t>; });
    COMPARISON(Equal)
    COMPARISON(Greater)
    COMPARISON(GreaterOrEqual)
    COMPARISON(Less)
    COMPARISON(LessOrEqual)
#undef COMPARISON
    default:
      return nullptr;
  }
}

TypedFunction pick_choice(int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return choice_loop<uint8_t>;
    case 2:
      return choice_loop<uint16_t>;
    case 4:
      return choice_loop<uint32_t>;
    case 8:
      return choice_loop<uint64_t>;
    default:
      return nullptr;
  }
}

// Truth values are bytes of 0 and 1.
template <class From>
TypedFunction pick_cast_from(DType to) {
  if (to == DType::Bool) return unary_loop<CastToTruth<From>, From, uint8_t>;
  if (to == DType::Float32) return unary_loop<Cast<From, float>, From, float>;
  return with_number_type(to, []<class To>(To) -> TypedFunction { return unary_loop<Cast<From, To>, From, To>; });
}

TypedFunction pick_cast(DType from, DType to) {
  if (from == DType::Bool) return pick_cast_from<uint8_t>(to);
  if (from == DType::Float32) return pick_cast_from<float>(to);
  return with_number_type(from, [&]<class From>(From) { return pick_cast_from<From>(to); });
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::typed_choice_loops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace typed_choice_loops {
TENON_EXPORT(pick_comparison);
TENON_EXPORT(pick_choice);
TENON_EXPORT(pick_cast);
}  // namespace typed_choice_loops

using namespace typed_choice_loops;
TypedFunction typed_comparison(OpId op, DType dtype, Isa isa) {
  return TENON_DISPATCH(pick_comparison, isa)(op, dtype);
}
TypedFunction typed_choice(int64_t element_bytes, Isa isa) { return TENON_DISPATCH(pick_choice, isa)(element_bytes); }
TypedFunction typed_cast(DType from, DType to, Isa isa) { return TENON_DISPATCH(pick_cast, isa)(from, to); }
}  // namespace tenon
#endif
