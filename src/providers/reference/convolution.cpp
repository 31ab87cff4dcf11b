#include "providers/reference/convolution.h"

#include <cmath>

#include "base/checked_math.h"
#include "base/exact_math.h"
#include "providers/reference/doubles.h"
#include "providers/reference/kernel.h"
#include "providers/reference/taps.h"
#include "providers/reference/work_meter.h"
#include "tensor/value.h"

namespace tenon {

namespace {

std::vector<int64_t> spatial(Dims dims) { return {dims.begin() + 2, dims.end()}; }

int64_t count_or_zero(Dims dims) { return checked_product(dims).value_or(0); }

// Calls f(dense offset, strided offset, length, weight) for every row that a tap connects in two channels of a group.
// Weights are stored [dense channel, strided channel of the group, tap].
template <class F>
Status for_each_meeting(const ConvGeometry& g, const double* w, const F& f) {
  const int64_t dense_plane = count_or_zero(g.dense), strided_plane = count_or_zero(g.strided);
  const int64_t dense_channels = g.dense_channels * g.group;
  if (g.batch == 0 || dense_channels == 0 || g.strided_channels == 0) return {};  // extents may be anything then
  int64_t taps = 1;
  for (const WindowAxis& a : g.window.axes) taps *= a.kernel;
  WorkMeter meter;
  return for_each_tap(g.window, g.dense, g.strided, [&](int64_t tap, std::span<const TapRow> rows) -> Status {
    for (int64_t n = 0; n < g.batch; ++n) {
      // Rows first: those of all channels of a group stay close to the processor.
      for (const TapRow& row : rows) {
        for (int64_t d = 0; d < dense_channels; ++d) {
          const int64_t dense = (n * dense_channels + d) * dense_plane + row.dense;
          const int64_t group = n * g.group + d / g.dense_channels;
          for (int64_t s = 0; s < g.strided_channels; ++s) {
            const int64_t strided = (group * g.strided_channels + s) * strided_plane + row.strided;
            meter.spend(row.length);
            f(dense, strided, row.length, w[(d * g.strided_channels + s) * taps + tap]);
          }
        }
      }
    }
    return {};
  });
}

}  // namespace

Result<ConvGeometry> ConvGeometry::of(Dims x, Dims w, Dims y, const ConvParams& params) {
  ConvGeometry g;
  g.batch = x[0];
  g.group = params.group;
  g.dense_channels = w[0] / params.group;
  g.strided_channels = w[1];
  g.dense = spatial(y);
  g.strided = spatial(x);
  TN_ASSIGN_OR_RETURN(Window window, make_window(params.window, g.strided.size(), spatial(w)));
  g.window = window.padded_for(g.strided);
  return g;
}

Result<ConvGeometry> ConvGeometry::of_transpose(Dims x, int64_t outputs, Dims kernel, Dims y,
                                                const ConvTransposeParams& params) {
  const Shape input = to_shape(x.subspan(2));
  TN_ASSIGN_OR_RETURN(auto transposed, transposed_window(params, input, kernel));
  ConvGeometry g;
  g.batch = x[0];
  g.group = params.group;
  g.dense_channels = x[1] / params.group;
  g.strided_channels = outputs;
  g.dense = spatial(x);
  g.strided = spatial(y);
  g.window = std::move(transposed.window);
  return g;
}

Status convolve(const ConvGeometry& g, const double* x, const double* w, double* y) {
  const int64_t step = g.window.axes.back().stride;
  return for_each_meeting(g, w, [&](int64_t dense, int64_t strided, int64_t length, double weight) {
    for (int64_t j = 0; j < length; ++j) y[dense + j] += weight * x[strided + j * step];
  });
}

Status convolve_transposed(const ConvGeometry& g, const double* x, const double* w, double* y) {
  const int64_t step = g.window.axes.back().stride;
  return for_each_meeting(g, w, [&](int64_t dense, int64_t strided, int64_t length, double weight) {
    for (int64_t j = 0; j < length; ++j) y[strided + j * step] += weight * x[dense + j];
  });
}

namespace {

// An output that starts as the bias of its channel, or zero.
Result<Doubles> biased_output(KernelContext& c, size_t bias_input) {
  const TensorView& out = c.out(0);
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(out.size(), 0.0, c.budget()));
  TN_ASSIGN_OR_RETURN(Doubles bias, read_doubles(c, bias_input));
  if (!bias.present() || out.size() == 0) return y;
  const int64_t plane = out.size() / (out.dims[0] * out.dims[1]);
  for (int64_t i = 0; i < out.size(); ++i) y[i] = bias[i / plane % out.dims[1]];
  return y;
}

Status run_conv(KernelContext& c) {
  TN_ASSIGN_OR_RETURN(auto geometry,
                      ConvGeometry::of(c.in(0).dims, c.in(1).dims, c.out(0).dims, c.params<ConvParams>()));
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles w, read_doubles(c, 1));
  TN_ASSIGN_OR_RETURN(Doubles y, biased_output(c, 2));
  TN_RETURN_IF_ERROR(convolve(geometry, x.data(), w.data(), y.data()));
  y.store(c.out(0));
  return {};
}

Status run_conv_transpose(KernelContext& c) {
  const auto& p = c.params<ConvTransposeParams>();
  const Dims w_dims = c.in(1).dims;
  TN_ASSIGN_OR_RETURN(auto g, ConvGeometry::of_transpose(c.in(0).dims, w_dims[1], w_dims.subspan(2), c.out(0).dims, p));
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles w, read_doubles(c, 1));
  TN_ASSIGN_OR_RETURN(Doubles y, biased_output(c, 2));
  TN_RETURN_IF_ERROR(convolve_transposed(g, x.data(), w.data(), y.data()));
  y.store(c.out(0));
  return {};
}

// Each channel with its own kernel over the past and current positions.
Status run_causal_conv(KernelContext& c) {
  if (count_or_zero(c.in(0).dims) == 0 && (!c.wants(1) || c.out(1).size() == 0)) return {};
  const int64_t planes = c.in(0).dims[0] * c.in(0).dims[1], channels = c.in(0).dims[1], length = c.in(0).dims[2];
  const int64_t taps = c.in(1).dims[2], kept = taps - 1;
  const auto& p = c.params<CausalConvParams>();
  const int64_t slots = std::max<int64_t>(1, p.state_window);
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles w, read_doubles(c, 1));
  TN_ASSIGN_OR_RETURN(Doubles bias, read_doubles(c, 2));
  TN_ASSIGN_OR_RETURN(Doubles past, read_doubles(c, 3));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(planes * length, 0.0, c.budget()));
  TN_ASSIGN_OR_RETURN(Doubles present, Doubles::filled({slots, planes, kept}, 0.0, c.budget()));
  for (int64_t plane = 0; plane < planes; ++plane) {
    const int64_t channel = plane % channels;
    // Position 0 is the first of the past, which is the last of its slots.
    auto at = [&](int64_t position) {
      if (position >= kept) return x[plane * length + position - kept];
      return past.present() ? past[((slots - 1) * planes + plane) * kept + position] : 0.0;
    };
    for (int64_t i = 0; i < length; ++i) {
      double sum = bias.present() ? bias[channel] : 0.0;
      for (int64_t t = 0; t < taps; ++t) sum += at(i + t) * w[channel * taps + t];
      sum = round_to(c.out(0).dtype, sum);
      y[plane * length + i] = p.activation != "none" ? sum / (1.0 + exact::exp(-sum)) : sum;
    }
    // Slot j holds the state that is `back` positions old; states from before this call are not told, but the last is.
    for (int64_t j = 0; j < slots; ++j) {
      const int64_t back = slots - 1 - j;
      if (back > 0 && back >= length) continue;
      for (int64_t i = 0; i < kept; ++i) present[(j * planes + plane) * kept + i] = at(length - back + i);
    }
  }
  y.store(c.out(0));
  if (c.wants(1)) present.store(c.out(1));
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Conv>() {
  return run_conv;
}

template <>
KernelFunction reference_kernel<OpId::ConvTranspose>() {
  return run_conv_transpose;
}

template <>
KernelFunction reference_kernel<OpId::CausalConvWithState>() {
  return run_causal_conv;
}

}  // namespace tenon
