#include "ops/legacy_image.h"

#include "base/exact_math.h"
#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// out[i] = f(in[i], alpha, beta)
template <class F>
Status apply(KernelContext& c, F f) {
  const auto& p = c.params<AlphaBetaParams>();
  return dispatch_floats(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto in = c.in(0).as<T>();
    auto out = c.out(0).as<T>();
    for_each_index(c.in(0).size(), [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      out[at] = narrow<T>(f(widen(in[at]), double{p.alpha}, double{p.beta}));
    });
    return Status();
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Affine>() {
  return [](KernelContext& c) { return apply(c, [](double x, double a, double b) { return a * x + b; }); };
}

template <>
KernelFunction reference_kernel<OpId::ScaledTanh>() {
  return [](KernelContext& c) { return apply(c, [](double x, double a, double b) { return a * exact::tanh(b * x); }); };
}

template <>
KernelFunction reference_kernel<OpId::ParametricSoftplus>() {
  return [](KernelContext& c) {
    // log(1 + e^z) without overflow.
    return apply(c, [](double x, double a, double b) {
      const double z = b * x;
      return a * (z > 0 ? z + exact::log1p(exact::exp(-z)) : exact::log1p(exact::exp(z)));
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::ImageScaler>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<ImageScalerParams>();
    const Dims dims = c.in(0).dims;
    if (c.out(0).size() == 0) return {};
    return dispatch_floats(c.out(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      auto in = c.in(0).as<T>();
      auto out = c.out(0).as<T>();
      const size_t plane = static_cast<size_t>(dims[2] * dims[3]);
      for_each_index(c.in(0).size(), [&](int64_t i) {
        const auto at = static_cast<size_t>(i);
        out[at] = narrow<T>(widen(in[at]) * p.scale + p.bias[at / plane % p.bias.size()]);
      });
      return Status();
    });
  };
}

}  // namespace tenon
