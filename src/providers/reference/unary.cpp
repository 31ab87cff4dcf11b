#include "ops/unary.h"

#include "base/exact_math.h"
#include "providers/reference/convert.h"
#include "providers/reference/elementwise.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

Status take_absolute(KernelContext& c) {
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_elements<T>(c, [](Wide<T> x) {
      if constexpr (is_float_element<T>)
        return std::fabs(x);
      else
        return x < T{} ? wrapping_negate(x) : x;
    });
    return Status();
  });
}

Status negate(KernelContext& c) {
  return dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t>(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_elements<T>(c, [](Wide<T> x) {
      if constexpr (is_float_element<T>)
        return -x;
      else
        return wrapping_negate(x);
    });
    return Status();
  });
}

// NaN stays NaN.
Status take_sign(KernelContext& c) {
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_elements<T>(c, [](Wide<T> x) -> Wide<T> {
      if (x > 0) return 1;
      if (x < Wide<T>{}) return static_cast<Wide<T>>(-1);
      return x == 0 ? 0 : x;
    });
    return Status();
  });
}

Status error_function(KernelContext& c) {
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_elements<T>(c, [](Wide<T> x) { return static_cast<Wide<T>>(exact::erf(static_cast<double>(x))); });
    return Status();
  });
}

Status flip_bits(KernelContext& c) {
  return dispatch_integers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_elements<T>(c, [](T x) { return static_cast<T>(~x); });
    return Status();
  });
}

// A test of each element of any type with infinities or NaNs.
template <class F>
Status test_elements(KernelContext& c, F test) {
  return dispatch<float, double, Float16, BFloat16, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>(
      c.in(0).dtype, [&](auto tag) {
        auto in = c.in(0).as<typename decltype(tag)::type>();
        auto out = c.out(0).as<bool>();
        for_each_index(c.in(0).size(),
                       [&](int64_t i) { out[static_cast<size_t>(i)] = test(widen(in[static_cast<size_t>(i)])); });
        return Status();
      });
}

}  // namespace

// Half to even, as the default rounding direction says.
#define FLOATS(name, expression)                                                                \
  template <>                                                                                   \
  KernelFunction reference_kernel<OpId::name>() {                                               \
    return [](KernelContext& c) { return map_floats(c, [](double x) { return expression; }); }; \
  }
FLOATS(Acos, exact::acos(x))
FLOATS(Acosh, exact::acosh(x))
FLOATS(Asin, exact::asin(x))
FLOATS(Asinh, exact::asinh(x))
FLOATS(Atan, exact::atan(x))
FLOATS(Atanh, exact::atanh(x))
FLOATS(Ceil, std::ceil(x))
FLOATS(Cos, exact::cos(x))
FLOATS(Cosh, exact::cosh(x))
FLOATS(Exp, exact::exp(x))
FLOATS(Floor, std::floor(x))
FLOATS(Log, exact::log(x))
FLOATS(Reciprocal, 1 / x)
FLOATS(Round, std::nearbyint(x))
FLOATS(Sigmoid, exact::sigmoid(x))
FLOATS(Sin, exact::sin(x))
FLOATS(Sinh, exact::sinh(x))
FLOATS(Sqrt, std::sqrt(x))
FLOATS(Tan, exact::tan(x))
FLOATS(Tanh, exact::tanh(x))
#undef FLOATS

template <>
KernelFunction reference_kernel<OpId::Abs>() {
  return take_absolute;
}

template <>
KernelFunction reference_kernel<OpId::Neg>() {
  return negate;
}

template <>
KernelFunction reference_kernel<OpId::Sign>() {
  return take_sign;
}

template <>
KernelFunction reference_kernel<OpId::Erf>() {
  return error_function;
}

template <>
KernelFunction reference_kernel<OpId::BitwiseNot>() {
  return flip_bits;
}

template <>
KernelFunction reference_kernel<OpId::Not>() {
  return [](KernelContext& c) -> Status {
    map_elements<bool>(c, [](bool x) { return !x; });
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::IsNaN>() {
  return [](KernelContext& c) { return test_elements(c, [](double x) { return std::isnan(x); }); };
}

template <>
KernelFunction reference_kernel<OpId::IsInf>() {
  return [](KernelContext& c) {
    const auto& p = c.params<IsInfParams>();
    return test_elements(c, [&](double x) { return std::isinf(x) && (x > 0 ? p.detect_positive : p.detect_negative); });
  };
}

}  // namespace tenon
