#include <cmath>

#include "providers/reference/convert.h"
#include "providers/reference/convolution.h"
#include "providers/reference/doubles.h"
#include "providers/reference/element_access.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// The entry of a scale or zero point that belongs to a channel.
double entry(const TensorView& parameter, int64_t channel) {
  return number_at(parameter, parameter.size() == 1 ? 0 : channel);
}

// An operand without its zero point (when it has one), which the first axis may choose.
Result<Doubles> centered(KernelContext& c, size_t operand, size_t zero_point) {
  TN_ASSIGN_OR_RETURN(Doubles values, read_doubles(c, operand));
  if (!c.has(zero_point) || values.size() == 0) return values;
  const int64_t size = c.in(operand).size(), per_entry = size / c.in(operand).dims[0];
  for_each_index(size, [&](int64_t i) { values[i] -= entry(c.in(zero_point), i / per_entry); });
  return values;
}

// The exact integers of a convolution; sums of byte products are exact in doubles.
Result<Doubles> convolve_bytes(KernelContext& c, size_t x, size_t x_zero, size_t w, size_t w_zero) {
  TN_ASSIGN_OR_RETURN(auto geometry,
                      ConvGeometry::of(c.in(x).dims, c.in(w).dims, c.out(0).dims, c.params<ConvParams>()));
  TN_ASSIGN_OR_RETURN(Doubles input, centered(c, x, x_zero));
  TN_ASSIGN_OR_RETURN(Doubles weights, centered(c, w, w_zero));
  TN_ASSIGN_OR_RETURN(Doubles sums, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  TN_RETURN_IF_ERROR(convolve(geometry, input.data(), weights.data(), sums.data()));
  return sums;
}

Status convolve_integers(KernelContext& c) {
  TN_ASSIGN_OR_RETURN(Doubles sums, convolve_bytes(c, 0, 2, 1, 3));
  auto out = c.out(0).as<int32_t>();
  for_each_index(c.out(0).size(),
                 [&](int64_t i) { out[static_cast<size_t>(i)] = static_cast<int32_t>(static_cast<int64_t>(sums[i])); });
  return {};
}

Status convolve_quantized(KernelContext& c) {
  TN_ASSIGN_OR_RETURN(Doubles sums, convolve_bytes(c, 0, 2, 3, 5));
  const TensorView& out = c.out(0);
  if (out.size() == 0) return {};
  const int64_t channels = out.dims[1], plane = out.size() / (out.dims[0] * channels);
  const auto x_scale = static_cast<float>(number_at(c.in(1), 0)), y_scale = static_cast<float>(number_at(c.in(6), 0));
  const double zero = number_at(c.in(7), 0);
  return dispatch<int8_t, uint8_t>(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* y = static_cast<T*>(out.data);
    for_each_index(out.size(), [&](int64_t i) {
      const int64_t channel = i / plane % channels;
      const float factor = x_scale * static_cast<float>(entry(c.in(4), channel)) / y_scale;
      const double sum = sums[i] + (c.has(8) ? number_at(c.in(8), channel) : 0);
      y[i] = saturate_to<T>(std::nearbyint(sum * factor) + zero);
    });
    return Status();
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::ConvInteger>() {
  return convolve_integers;
}

template <>
KernelFunction reference_kernel<OpId::QLinearConv>() {
  return convolve_quantized;
}

}  // namespace tenon
