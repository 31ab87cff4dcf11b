#include "ops/arithmetic.h"

#include "base/exact_math.h"
#include "providers/reference/convert.h"
#include "providers/reference/element_access.h"
#include "providers/reference/elementwise.h"

namespace tenon {

namespace {

// f(a, b) for all number types: one function for floats (in double), one for integers.
template <class Floats, class Integers>
Status compute(KernelContext& c, Floats floats, Integers integers) {
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_float_element<T>)
      broadcast_binary<T>(c, floats);
    else
      broadcast_binary<T>(c, [&](T a, T b) { return static_cast<T>(integers(a, b)); });
    return Status();
  });
}

// Integer division truncates; by zero gives zero, and the lowest number by -1 wraps to itself.
template <class T>
T divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return wrapping_negate(a);
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}
// The remainder with the divisor's sign.
template <class T>
T floor_remainder(T a, T b) {
  const T r = remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
}
double floor_remainder(double a, double b) {
  if (std::isinf(b) && std::isfinite(a)) return a == 0 ? std::copysign(0.0, b) : (a < 0) == (b < 0) ? a : b;
  const double r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

// base^exponent modulo 2^64, by squaring.
uint64_t wrapping_power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

// The result has the base's type. Integers to integer powers are exact (and wrap), everything else goes by double.
Status raise(KernelContext& c) {
  const TensorView &a = c.in(0), &b = c.in(1), &out = c.out(0);
  const bool integral = is_integer(b.dtype);
  return dispatch_numbers(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = static_cast<const T*>(a.data);
    T* z = static_cast<T*>(out.data);
    for (Walker<2> w(out.dims, {broadcast_strides(a.dims, out.dims), broadcast_strides(b.dims, out.dims)}); w.more();
         w.next()) {
      T& result = z[w.position()];
      if constexpr (std::is_integral_v<T>) {
        const int64_t exponent = integral ? any_integer_at(b, w.at(1)) : -1;
        if (exponent >= 0 || (integral && b.dtype == DType::UInt64)) {
          result = static_cast<T>(wrapping_power(static_cast<uint64_t>(x[w.at(0)]), static_cast<uint64_t>(exponent)));
          continue;
        }
      }
      result = from_double<T>(exact::pow(static_cast<double>(x[w.at(0)]), number_at(b, w.at(1))));
    }
    return Status();
  });
}

// out[i] = finish(f(... f(in0[i], in1[i]) ..., inN[i])) with broadcasting.
template <class T, class F, class Finish>
void fold_inputs(KernelContext& c, F f, Finish finish) {
  const TensorView& out = c.out(0);
  std::vector<Walker<1>> walkers;
  for (size_t i = 0; i < c.input_count(); ++i)
    walkers.emplace_back(out.dims, std::array{broadcast_strides(c.in(i).dims, out.dims)});
  T* z = static_cast<T*>(out.data);
  for (int64_t n = 0; walkers[0].more(); ++n) {
    Wide<T> result{};
    for (size_t i = 0; i < walkers.size(); ++i) {
      const Wide<T> x = widen(static_cast<const T*>(c.in(i).data)[walkers[i].at(0)]);
      result = i == 0 ? x : f(result, x);
      walkers[i].next();
    }
    z[n] = narrow<T>(finish(result));
  }
}

// The extreme of all inputs; NaN wins.
template <bool kLargest>
Status extreme(KernelContext& c) {
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto better = [](Wide<T> a, Wide<T> b) { return (kLargest ? b > a : b < a) || b != b ? b : a; };
    fold_inputs<T>(c, [&](Wide<T> a, Wide<T> b) { return a != a ? a : better(a, b); }, [](Wide<T> x) { return x; });
    return Status();
  });
}

Status sum_inputs(KernelContext& c, double divisor) {
  return dispatch_floats(c.out(0).dtype, [&](auto tag) {
    fold_inputs<typename decltype(tag)::type>(
        c, [](double a, double b) { return a + b; }, [&](double x) { return x / divisor; });
    return Status();
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Add>() {
  return [](KernelContext& c) {
    return compute(c, [](double a, double b) { return a + b; }, [](auto a, auto b) { return wrapping_add(a, b); });
  };
}

template <>
KernelFunction reference_kernel<OpId::Sub>() {
  return [](KernelContext& c) {
    return compute(c, [](double a, double b) { return a - b; }, [](auto a, auto b) { return wrapping_subtract(a, b); });
  };
}

template <>
KernelFunction reference_kernel<OpId::Mul>() {
  return [](KernelContext& c) {
    return compute(c, [](double a, double b) { return a * b; }, [](auto a, auto b) { return wrapping_multiply(a, b); });
  };
}

template <>
KernelFunction reference_kernel<OpId::Div>() {
  return [](KernelContext& c) {
    return compute(c, [](double a, double b) { return a / b; }, [](auto a, auto b) { return divide(a, b); });
  };
}

template <>
KernelFunction reference_kernel<OpId::Mod>() {
  return [](KernelContext& c) {
    if (c.params<ModParams>().fmod)
      return compute(
          c, [](double a, double b) { return std::fmod(a, b); }, [](auto a, auto b) { return remainder(a, b); });
    return compute(
        c, [](double a, double b) { return floor_remainder(a, b); },
        [](auto a, auto b) { return floor_remainder(a, b); });
  };
}

template <>
KernelFunction reference_kernel<OpId::Pow>() {
  return raise;
}

template <>
KernelFunction reference_kernel<OpId::Min>() {
  return extreme<false>;
}

template <>
KernelFunction reference_kernel<OpId::Max>() {
  return extreme<true>;
}

template <>
KernelFunction reference_kernel<OpId::Sum>() {
  return [](KernelContext& c) { return sum_inputs(c, 1); };
}

template <>
KernelFunction reference_kernel<OpId::Mean>() {
  return [](KernelContext& c) { return sum_inputs(c, static_cast<double>(c.input_count())); };
}

}  // namespace tenon
