// Arithmetic on integers and doubles, a run of elements at a time.
#include <type_traits>

#include "providers/cpu/simd_targets.h"
#include "providers/cpu/typed_elements.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/typed_arithmetic_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/typed_loops_simd.h"

HWY_BEFORE_NAMESPACE();
#ifndef __clang__
// Vectors of elements of several sizes, too.
#pragma GCC optimize("vect-cost-model=dynamic")
#endif
namespace tenon::typed_arithmetic_loops {
namespace HWY_NAMESPACE {
using namespace tenon::typed::HWY_NAMESPACE;

// Integers that wrap, or doubles.
template <class T>
using Wrapping =
    std::conditional_t<std::is_same_v<T, double>, double, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

// Operations as functors: a lambda would not be compiled for the target.
#define WRAPPING(name, sign)                                                               \
  template <class T>                                                                       \
  struct name {                                                                            \
    static HWY_INLINE T apply(T x, T y) {                                                  \
      return static_cast<T>(static_cast<Wrapping<T>>(x) sign static_cast<Wrapping<T>>(y)); \
    }                                                                                      \
  };
WRAPPING(Add, +)
WRAPPING(Sub, -)
WRAPPING(Mul, *)
#undef WRAPPING

#define BITS(name, sign)                                                     \
  template <class T>                                                         \
  struct name {                                                              \
    static HWY_INLINE T apply(T x, T y) { return static_cast<T>(x sign y); } \
  };
BITS(BitwiseAnd, &)
BITS(BitwiseOr, |)
BITS(BitwiseXor, ^)
#undef BITS

// Integer division truncates; by zero gives zero, and the lowest number by -1 wraps to itself.
template <class T>
struct Div {
  static HWY_INLINE T apply(T x, T y) {
    if constexpr (std::is_same_v<T, double>) {
      return x / y;
    } else {
      if (y == 0) return 0;
      if constexpr (std::is_signed_v<T>)
        if (y == -1) return Sub<T>::apply(0, x);
      return static_cast<T>(x / y);
    }
  }
};
template <class T>
struct TruncatedRemainder {
  static HWY_INLINE T apply(T x, T y) {
    if (y == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (y == -1) return 0;
    return static_cast<T>(x % y);
  }
};
template <class T>
struct FloorRemainder {
  static HWY_INLINE T apply(T x, T y) {
    const T r = TruncatedRemainder<T>::apply(x, y);
    return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
  }
};

// NaN wins.
template <class T>
struct Max {
  static HWY_INLINE T apply(T x, T y) { return x != x ? x : y > x || y != y ? y : x; }
};
template <class T>
struct Min {
  static HWY_INLINE T apply(T x, T y) { return x != x ? x : y < x || y != y ? y : x; }
};

// Shifts outside of the type's bits move every bit out: what stays is the fill.
template <class T>
struct ShiftLeft {
  static HWY_INLINE T apply(T x, T y) {
    const bool is_inside = y >= 0 && static_cast<uint64_t>(y) < 8 * sizeof(T);
    return is_inside ? static_cast<T>(static_cast<uint64_t>(x) << (y & 63)) : T{0};
  }
};
template <class T>
struct ShiftRight {
  static HWY_INLINE T apply(T x, T y) {
    const bool is_inside = y >= 0 && static_cast<uint64_t>(y) < 8 * sizeof(T);
    return is_inside ? static_cast<T>(x >> (y & 63)) : x < 0 ? static_cast<T>(-1) : T{0};
  }
};

template <class T>
struct Abs {
  static HWY_INLINE T apply(T x) {
    if constexpr (std::is_same_v<T, double>)
      return __builtin_fabs(x);
    else
      return x < 0 ? Sub<T>::apply(0, x) : x;
  }
};
template <class T>
struct BitwiseNot {
  static HWY_INLINE T apply(T x) { return static_cast<T>(~x); }
};
template <class T>
struct Neg {
  static HWY_INLINE T apply(T x) {
    if constexpr (std::is_same_v<T, double>)
      return -x;
    else
      return Sub<T>::apply(0, x);
  }
};
template <class T>
struct Sign {
  static HWY_INLINE T apply(T x) { return x > 0 ? T(1) : x < 0 ? static_cast<T>(-1) : x; }
};

TypedFunction pick(OpId op, DType dtype) {
  switch (op) {
#define OF_NUMBERS(name, loop) \
  case OpId::name:             \
    return with_number_type(dtype, []<class T>(T) -> TypedFunction { return loop<name<T>, T, T>; });
    OF_NUMBERS(Abs, unary_loop)
    OF_NUMBERS(Add, binary_loop)
    OF_NUMBERS(Div, binary_loop)
    OF_NUMBERS(Max, binary_loop)
    OF_NUMBERS(Min, binary_loop)
    OF_NUMBERS(Mul, binary_loop)
    OF_NUMBERS(Neg, unary_loop)
    OF_NUMBERS(Sign, unary_loop)
    OF_NUMBERS(Sub, binary_loop)
#undef OF_NUMBERS
#define OF_BITS(name, loop) \
  case OpId::name:          \
    return with_integer_type(dtype, []<class T>(T) -> TypedFunction { return loop<name<T>, T, T>; });
    OF_BITS(BitwiseAnd, binary_loop)
    OF_BITS(BitwiseNot, unary_loop)
    OF_BITS(BitwiseOr, binary_loop)
    OF_BITS(BitwiseXor, binary_loop)
#undef OF_BITS
    default:
      return nullptr;
  }
}

TypedFunction pick_remainder(bool truncates, DType dtype) {
  return with_integer_type(dtype, [&]<class T>(T) -> TypedFunction {
    return truncates ? binary_loop<TruncatedRemainder<T>, T, T> : binary_loop<FloorRemainder<T>, T, T>;
  });
}

TypedFunction pick_shift(bool left, DType dtype) {
  return with_integer_type(dtype, [&]<class T>(T) -> TypedFunction {
    return left ? binary_loop<ShiftLeft<T>, T, T> : binary_loop<ShiftRight<T>, T, T>;
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::typed_arithmetic_loops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace typed_arithmetic_loops {
TENON_EXPORT(pick);
TENON_EXPORT(pick_remainder);
TENON_EXPORT(pick_shift);
}  // namespace typed_arithmetic_loops

using namespace typed_arithmetic_loops;
TypedFunction typed_arithmetic(OpId op, DType dtype, Isa isa) { return TENON_DISPATCH(pick, isa)(op, dtype); }
TypedFunction typed_remainder(bool truncates, DType dtype, Isa isa) {
  return TENON_DISPATCH(pick_remainder, isa)(truncates, dtype);
}
TypedFunction typed_shift(bool left, DType dtype, Isa isa) { return TENON_DISPATCH(pick_shift, isa)(left, dtype); }
}  // namespace tenon
#endif
