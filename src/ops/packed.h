#pragma once

#include <span>

#include "ops/convolution.h"
#include "ops/fused_activation.h"

// Ops that only compiled plans hold: weights laid out as fast kernels read them, and what is computed with them.
namespace tenon {

// Neighbouring output columns (or channels) of a packed weight. The same for every instruction set.
inline constexpr int64_t kPanelWidth = 16;

// Layouts of packed weights with N outputs.
enum class PackedLayout : uint8_t {
  Panels,     // [groups, ceil(N / groups / 16), K, 16]: for each k, 16 neighbouring outputs; padded with zeros
  Depthwise,  // [ceil(N / 16), taps, 16]: for each tap, 16 neighbouring channels; padded with zeros
  // [points, ceil(N / 16), K, 16] of a kernel that is 3x3 along its last two axes: each filter as its values at the
  // points of a Winograd tile of 2x2 or 4x4 outputs, which are 16 or 36 points. K is (tap of the axis before, channel).
  Winograd2,
  Winograd4,
};
template <>
struct Choices<PackedLayout> {
  static constexpr const char* names[] = {"panels16", "depthwise16", "winograd2", "winograd4"};
};

// Edge of the square of outputs that a Winograd layout computes at a time; 0 for other layouts.
constexpr int64_t winograd_outputs(PackedLayout layout) {
  return layout == PackedLayout::Winograd2 ? 2 : layout == PackedLayout::Winograd4 ? 4 : 0;
}
// Points of its tiles: their edge is larger by the reach of the kernel.
constexpr int64_t winograd_points(PackedLayout layout) {
  return (winograd_outputs(layout) + 2) * (winograd_outputs(layout) + 2);
}

// Whether a kernel is one or more 3x3 slices, and how many.
constexpr bool is_winograd_kernel(std::span<const int64_t> kernel) {
  return (kernel.size() == 2 || kernel.size() == 3) && kernel[kernel.size() - 2] == 3 && kernel.back() == 3;
}
constexpr int64_t winograd_slices(std::span<const int64_t> kernel) { return kernel.size() == 3 ? kernel[0] : 1; }

// The axes of a weight before it is packed: [N, K...], [K, N], or [C, N / groups, taps...], where K is (channel of the
// group, tap) as in Conv.
enum class WeightOrder : uint8_t { OutputsFirst, DepthFirst, InputsFirst };
template <>
struct Choices<WeightOrder> {
  static constexpr const char* names[] = {"nk", "kn", "cn"};
};

// PackPanels(w, scale?): w in a packed layout, output n multiplied by scale[n].
struct PackPanelsParams {
  WeightOrder source = WeightOrder::OutputsFirst;
  PackedLayout layout = PackedLayout::Panels;
  int64_t groups = 1;  // of OutputsFirst and InputsFirst in Panels
  void fields(FieldVisitor& v) {
    v.field("source", source);
    v.field("layout", layout);
    v.field("groups", groups);
  }
};

// Inputs of PackedMatMul, PackedConv and PackedConvTranspose that stand for the alpha and beta of the activation clip
// when they are there: weights stay replaceable that a parameter would fix.
inline constexpr size_t kPackedLeast = 3, kPackedGreatest = 4;
// Input of PackedConv that is added before the activation.
inline constexpr size_t kPackedAddend = 5;

// PackedMatMul(x [..., k], packed, bias [n]?, least?, greatest?, (packed, bias?)...): activation(x * W + bias) [..., n]
// for each weight. Products of one input read it together, and each weight stays a slot of its own.
struct PackedMatMulParams {
  std::vector<int64_t> columns;  // n of each weight
  int64_t k = 0;
  FusedActivation activation;
  void fields(FieldVisitor& v) {
    v.field("columns", columns);
    v.field("k", k);
    activation.fields(v);
  }
};

// Where the i-th weight of a PackedMatMul and its bias are among the inputs.
constexpr size_t packed_weight_input(size_t i) { return i == 0 ? 1 : kPackedGreatest + 2 * i - 1; }
constexpr size_t packed_bias_input(size_t i) { return packed_weight_input(i) + 1; }

// PackedConv(x [batch, channels, spatial...], packed, bias?, least?, greatest?, addend?): activation(Conv(x, W) + bias
// + addend), 1 to 3 spatial axes. The addend has the shape of the result. K is (channel of the group, tap).
// kernel_shape must be given.
struct PackedConvParams {
  ConvParams conv;
  int64_t output_channels = 0;
  // Depthwise: as many groups as input channels. Winograd: one group, a kernel of 3x3 or Dx3x3, steps of 1.
  PackedLayout layout = PackedLayout::Panels;
  FusedActivation activation;
  void fields(FieldVisitor& v) {
    conv.fields(v);
    v.field("output_channels", output_channels);
    v.field("layout", layout);
    activation.fields(v);
  }
};

// PackedConvTranspose(x [batch, channels, spatial...], packed, bias?, least?, greatest?): activation(ConvTranspose(x,
// W)
// + bias), 1 to 3 spatial axes. The weight is packed in Panels from InputsFirst. kernel_shape must be given.
struct PackedConvTransposeParams {
  ConvTransposeParams conv;
  int64_t output_channels = 0;
  FusedActivation activation;
  void fields(FieldVisitor& v) {
    conv.fields(v);
    v.field("output_channels", output_channels);
    activation.fields(v);
  }
};

}  // namespace tenon
