#include "ops/packed.h"

#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "base/exact_math.h"
#include "providers/packed_activation.h"
#include "providers/reference/convolution.h"
#include "providers/reference/doubles.h"
#include "providers/reference/kernel.h"
#include "providers/reference/winograd.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

double activate(const FusedActivation& a, double x) {
  const double alpha = a.alpha, beta = a.beta;
  switch (a.kind) {
    case ActivationKind::None:
      return x;
    case ActivationKind::Relu:
      return x < 0 ? 0 : x;
    case ActivationKind::Clip:
      return x < alpha ? alpha : x > beta ? beta : x;
    case ActivationKind::LeakyRelu:
      return x < 0 ? alpha * x : x;
    case ActivationKind::Elu:
      return x < 0 ? alpha * exact::expm1(x) : x;
    case ActivationKind::Sigmoid:
      return exact::sigmoid(x);
    case ActivationKind::HardSigmoid:
      return std::clamp(alpha * x + beta, 0.0, 1.0);
    case ActivationKind::Tanh:
      return exact::tanh(x);
    case ActivationKind::Gelu:
      return 0.5 * x * (1 + exact::erf(x * std::sqrt(0.5)));
    case ActivationKind::GeluTanh:
      return 0.5 * x * (1 + exact::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case ActivationKind::Silu:
      return x * exact::sigmoid(alpha * x);
    case ActivationKind::HardSwish:
      return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
  }
  return x;
}

// Where output n of a group meets k.
int64_t packed_index(int64_t n, int64_t k, int64_t depth) {
  return (n / kPanelWidth * depth + k) * kPanelWidth + n % kPanelWidth;
}

Status reference_pack_panels(KernelContext& c) {
  const auto& p = c.params<PackPanelsParams>();
  const TensorView& weight = c.in(0);
  const auto from = weight.as<float>(), to = c.out(0).as<float>();
  std::fill(to.begin(), to.end(), 0.0f);
  if (from.empty()) return {};
  if (winograd_outputs(p.layout) > 0) {
    pack_winograd(weight, c.has(1) ? c.in(1).as<float>().data() : nullptr, p.layout, to);
    return {};
  }
  const int64_t groups = p.layout == PackedLayout::Depthwise ? 1 : p.groups;
  const int64_t depth = c.out(0).dims[c.out(0).dims.size() - 2], outputs = weight.size() / depth;
  const int64_t columns = outputs / groups, group_size = static_cast<int64_t>(to.size()) / groups;
  const int64_t taps = p.source == WeightOrder::InputsFirst ? count_of(weight.dims.subspan(2)) : 1;
  // Where output n meets k in the weight.
  const auto source_index = [&](int64_t n, int64_t k) {
    if (p.source == WeightOrder::OutputsFirst) return n * depth + k;
    if (p.source == WeightOrder::DepthFirst) return k * outputs + n;
    const int64_t channel = n / columns * (depth / taps) + k / taps;
    return (channel * columns + n % columns) * taps + k % taps;
  };
  WorkMeter meter;
  for (int64_t n = 0; n < outputs; ++n) {
    const float scale = c.has(1) ? c.in(1).as<float>()[static_cast<size_t>(n)] : 1.0f;
    meter.spend(depth);
    for (int64_t k = 0; k < depth; ++k) {
      const float value = from[static_cast<size_t>(source_index(n, k))];
      const int64_t at = n / columns * group_size + packed_index(n % columns, k, depth);
      to[static_cast<size_t>(at)] = c.has(1) ? value * scale : value;
    }
  }
  return {};
}

void multiply_one(KernelContext& c, size_t product, const FusedActivation& activation) {
  const auto& p = c.params<PackedMatMulParams>();
  const size_t weight = packed_weight_input(product), bias = packed_bias_input(product);
  const int64_t columns = p.columns[product];
  const float *x = c.in(0).as<float>().data(), *packed = c.in(weight).as<float>().data();
  const auto y = c.out(product).as<float>();
  const int64_t rows = columns == 0 ? 0 : static_cast<int64_t>(y.size()) / columns;
  WorkMeter meter;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t n = 0; n < columns; ++n) {
      double sum = c.has(bias) ? c.in(bias).as<float>()[static_cast<size_t>(n)] : 0;
      meter.spend(p.k + 1);
      for (int64_t k = 0; k < p.k; ++k) sum += double{x[i * p.k + k]} * packed[packed_index(n, k, p.k)];
      y[static_cast<size_t>(i * columns + n)] = static_cast<float>(activate(activation, sum));
    }
  }
}

Status reference_packed_matmul(KernelContext& c) {
  const FusedActivation activation = with_given_bounds(c, c.params<PackedMatMulParams>().activation);
  for (size_t i = 0; i < c.output_count(); ++i)
    if (c.wants(i)) multiply_one(c, i, activation);
  return {};
}

// Weights as ConvTranspose has them: [input channel, output channel of the group, tap].
Result<Doubles> unpacked_transposed_weights(KernelContext& c, int64_t depth, int64_t taps) {
  const auto& p = c.params<PackedConvTransposeParams>();
  const float* packed = c.in(1).as<float>().data();
  const int64_t columns = p.output_channels / p.conv.group, channels = depth / taps * p.conv.group;
  const int64_t group_size = c.in(1).size() / p.conv.group;
  TN_ASSIGN_OR_RETURN(Doubles w, Doubles::filled({channels, columns, taps}, 0.0, c.budget()));
  for_each_index(channels * columns * taps, [&](int64_t i) {
    const int64_t tap = i % taps, column = i / taps % columns, channel = i / taps / columns;
    const int64_t group = channel * taps / depth, k = channel * taps % depth + tap;
    w[i] = packed[group * group_size + packed_index(column, k, depth)];
  });
  return w;
}

// Weights as Conv has them: [output channel, channel of the group, tap].
Result<Doubles> unpacked_weights(KernelContext& c, int64_t depth) {
  const auto& p = c.params<PackedConvParams>();
  const float* packed = c.in(1).as<float>().data();
  const int64_t groups = p.layout == PackedLayout::Depthwise ? 1 : p.conv.group;
  const int64_t columns = p.output_channels / groups, group_size = c.in(1).size() / groups;
  TN_ASSIGN_OR_RETURN(Doubles w, Doubles::filled({p.output_channels, depth}, 0.0, c.budget()));
  for (int64_t n = 0; n < p.output_channels; ++n)
    for_each_index(depth, [&](int64_t k) {
      w[n * depth + k] = packed[n / columns * group_size + packed_index(n % columns, k, depth)];
    });
  return w;
}

// Of a packed result: the bias of each channel or zero, and the addend.
Result<Doubles> packed_bias(KernelContext& c, int64_t channels) {
  const TensorView& out = c.out(0);
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(out.size(), 0.0, c.budget()));
  const int64_t plane = out.size() / (out.dims[0] * channels);
  if (c.has(2))
    for_each_index(out.size(),
                   [&](int64_t i) { y[i] = c.in(2).as<float>()[static_cast<size_t>(i / plane % channels)]; });
  if (c.has(kPackedAddend))
    for_each_index(out.size(), [&](int64_t i) { y[i] += c.in(kPackedAddend).as<float>()[static_cast<size_t>(i)]; });
  return y;
}

Status run_packed_conv(KernelContext& c) {
  const auto& p = c.params<PackedConvParams>();
  const FusedActivation activation = with_given_bounds(c, p.activation);
  const TensorView& out = c.out(0);
  if (out.size() == 0) return {};
  const int64_t channels = c.in(0).dims[1] / p.conv.group;
  std::vector<int64_t> w_dims{p.output_channels, channels};
  w_dims.insert(w_dims.end(), p.conv.window.kernel_shape.begin(), p.conv.window.kernel_shape.end());
  TN_ASSIGN_OR_RETURN(auto geometry, ConvGeometry::of(c.in(0).dims, w_dims, out.dims, p.conv));
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles y, packed_bias(c, p.output_channels));
  if (winograd_outputs(p.layout) > 0) {
    convolve_winograd(geometry, p.layout, x.data(), c.in(1).as<float>().data(), y.data());
  } else {
    TN_ASSIGN_OR_RETURN(const Doubles w, unpacked_weights(c, channels * count_of(p.conv.window.kernel_shape)));
    TN_RETURN_IF_ERROR(convolve(geometry, x.data(), w.data(), y.data()));
  }
  for_each_index(out.size(), [&](int64_t i) { y[i] = activate(activation, y[i]); });
  y.store(out);
  return {};
}

Status run_packed_conv_transpose(KernelContext& c) {
  const auto& p = c.params<PackedConvTransposeParams>();
  const FusedActivation activation = with_given_bounds(c, p.activation);
  const TensorView& out = c.out(0);
  if (out.size() == 0) return {};
  TN_ASSIGN_OR_RETURN(auto geometry, ConvGeometry::of_transpose(c.in(0).dims, p.output_channels / p.conv.group,
                                                                p.conv.window.kernel_shape, out.dims, p.conv));
  TN_ASSIGN_OR_RETURN(Doubles y, packed_bias(c, p.output_channels));
  if (c.in(0).size() > 0) {
    TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
    TN_ASSIGN_OR_RETURN(Doubles w,
                        unpacked_transposed_weights(c, c.in(1).dims[2], count_of(p.conv.window.kernel_shape)));
    TN_RETURN_IF_ERROR(convolve_transposed(geometry, x.data(), w.data(), y.data()));
  }
  for_each_index(out.size(), [&](int64_t i) { y[i] = activate(activation, y[i]); });
  y.store(out);
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::PackPanels>() {
  return reference_pack_panels;
}

template <>
KernelFunction reference_kernel<OpId::PackedMatMul>() {
  return reference_packed_matmul;
}

template <>
KernelFunction reference_kernel<OpId::PackedConv>() {
  return run_packed_conv;
}

template <>
KernelFunction reference_kernel<OpId::PackedConvTranspose>() {
  return run_packed_conv_transpose;
}

}  // namespace tenon
