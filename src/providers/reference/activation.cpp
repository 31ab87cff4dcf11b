#include "ops/activation.h"

#include <algorithm>

#include "base/exact_math.h"
#include "providers/reference/convert.h"
#include "providers/reference/elementwise.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// log(1 + exp(x)) without overflow.
double softplus(double x) { return std::max(x, 0.0) + exact::log1p(exact::exp(-std::fabs(x))); }

double gelu(double x) { return 0.5 * x * (1 + exact::erf(x * std::sqrt(0.5))); }
double gelu_tanh(double x) {
  const double sqrt_2_over_pi = 0.79788456080286535588;
  return 0.5 * x * (1 + exact::tanh(sqrt_2_over_pi * (x + 0.044715 * x * x * x)));
}

// f(x, params) on all floats.
template <class P, class F>
Status activate(KernelContext& c, F f) {
  const P& p = c.params<P>();
  return map_floats(c, [&](double x) { return f(x, p); });
}

Status shrink(KernelContext& c) {
  const auto& p = c.params<ShrinkParams>();
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto in = c.in(0).as<T>();
    auto out = c.out(0).as<T>();
    for_each_index(c.in(0).size(), [&](int64_t i) {
      const double x = static_cast<double>(in[static_cast<size_t>(i)]);
      out[static_cast<size_t>(i)] = from_double<T>(x < -p.lambd ? x + p.bias : x > p.lambd ? x - p.bias : 0.0);
    });
    return Status();
  });
}

// min(high, max(x, low)); NaN stays NaN.
Status clip(KernelContext& c) {
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto limit = [&](size_t i) { return c.has(i) ? std::optional(widen(c.in(i).template as<T>()[0])) : std::nullopt; };
    const auto low = limit(1), high = limit(2);
    map_elements<T>(c, [&](Wide<T> x) {
      if (low && x < *low) x = *low;
      if (high && x > *high) x = *high;
      return x;
    });
    return Status();
  });
}

Status prelu(KernelContext& c) {
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    broadcast_binary<T>(c, [](Wide<T> x, Wide<T> slope) {
      if constexpr (is_float_element<T>)
        return x < 0 ? x * slope : x;
      else
        return x < T{} ? wrapping_multiply(x, slope) : x;
    });
    return Status();
  });
}

// max(0, x) + min(0, alpha (exp(x / alpha) - 1)). An alpha of zero leaves nothing but the sign of x on one side, and no
// number on the other.
double celu(double x, double alpha) {
  if (alpha != 0) return x < 0 ? alpha * exact::expm1(x / alpha) : x;
  const double term = alpha * exact::expm1(x / alpha);
  return std::isnan(term) ? term : std::max(x, 0.0) + std::min(term, 0.0);
}

Status relu(KernelContext& c) {
  return dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t>(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    map_elements<T>(c, [](Wide<T> x) { return x < 0 ? Wide<T>{} : x; });  // NaN stays NaN
    return Status();
  });
}

Status swiglu(KernelContext& c) {
  const double alpha = c.params<SwishParams>().alpha;
  return dispatch_floats(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    broadcast_binary<T>(c, [&](double gate, double value) { return gate * exact::sigmoid(alpha * gate) * value; });
    return Status();
  });
}

}  // namespace

#define ACTIVATION(name, P, expression)                                                        \
  template <>                                                                                  \
  KernelFunction reference_kernel<OpId::name>() {                                              \
    return [](KernelContext& c) {                                                              \
      return activate<P>(c, [](double x, [[maybe_unused]] const P& p) { return expression; }); \
    };                                                                                         \
  }
ACTIVATION(Celu, CeluParams, celu(x, p.alpha))
ACTIVATION(Elu, EluParams, x < 0 ? p.alpha * exact::expm1(x) : x)
ACTIVATION(Gelu, GeluParams, p.approximate == "tanh" ? gelu_tanh(x) : gelu(x))
ACTIVATION(HardSigmoid, HardSigmoidParams, std::clamp(double{p.alpha} * x + p.beta, 0.0, 1.0))
ACTIVATION(HardSwish, NoParams, x* std::clamp(x / 6 + 0.5, 0.0, 1.0))
ACTIVATION(LeakyRelu, LeakyReluParams, x < 0 ? p.alpha * x : x)
ACTIVATION(Mish, NoParams, x* exact::tanh(softplus(x)))
ACTIVATION(Selu, SeluParams, p.gamma*(x > 0 ? x : p.alpha * exact::expm1(x)))
ACTIVATION(Softplus, NoParams, softplus(x))
ACTIVATION(Softsign, NoParams, x / (1 + std::fabs(x)))
ACTIVATION(Swish, SwishParams, x* exact::sigmoid(p.alpha* x))
ACTIVATION(ThresholdedRelu, ThresholdedReluParams, x > p.alpha ? x : 0)
#undef ACTIVATION

template <>
KernelFunction reference_kernel<OpId::Clip>() {
  return clip;
}

template <>
KernelFunction reference_kernel<OpId::PRelu>() {
  return prelu;
}

template <>
KernelFunction reference_kernel<OpId::Relu>() {
  return relu;
}

template <>
KernelFunction reference_kernel<OpId::Shrink>() {
  return shrink;
}

template <>
KernelFunction reference_kernel<OpId::SwiGLU>() {
  return swiglu;
}

}  // namespace tenon
