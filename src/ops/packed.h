#pragma once

#include "ops/convolution.h"
#include "ops/fused_activation.h"

// Ops that only compiled plans hold: weights laid out as fast kernels read them, and what is computed with them.
namespace tenon {

// Neighbouring output columns (or channels) of a packed weight. The same for every instruction set.
inline constexpr int64_t kPanelWidth = 16;

// Layouts of packed weights with N outputs:
//   panels16     [groups, ceil(N / groups / 16), K, 16]   for each k, 16 neighbouring outputs; padded with zeros
//   depthwise16  [ceil(N / 16), taps, 16]                 for each tap, 16 neighbouring channels; padded with zeros
inline constexpr const char* kPanelsLayout = "panels16";
inline constexpr const char* kDepthwiseLayout = "depthwise16";

// PackPanels(w, scale?, more...): w in a packed layout, output n multiplied by scale[n]. The outputs of further weights
// of the same K stand beside those of w, which are whole panels then; only in one group of panels16.
struct PackPanelsParams {
  std::string source = "nk";  // nk: w is [N, K...]; kn: w is [K, N]
  std::string layout = kPanelsLayout;
  int64_t groups = 1;  // of nk in panels16
  void fields(FieldVisitor& v) {
    v.field("source", source);
    v.field("layout", layout);
    v.field("groups", groups);
  }
};

// Inputs of PackedMatMul and PackedConv that stand for the alpha and beta of the activation clip when they are there:
// weights stay replaceable that a parameter would fix.
inline constexpr size_t kPackedLeast = 3, kPackedGreatest = 4;

// PackedMatMul(x [..., k], packed, bias [n]?, least?, greatest?): activation(x * W + bias) [..., n].
struct PackedMatMulParams {
  int64_t n = 0, k = 0;
  ActivationParams activation;
  void fields(FieldVisitor& v) {
    v.field("n", n);
    v.field("k", k);
    activation.fields(v);
  }
};

// PackedConv(x [batch, channels, spatial...], packed, bias?, least?, greatest?): activation(Conv(x, W) + bias), 1 to 3
// spatial axes. K is (channel of the group, tap). kernel_shape must be given.
struct PackedConvParams {
  ConvParams conv;
  int64_t output_channels = 0;
  std::string layout = kPanelsLayout;  // depthwise16: as many groups as input channels
  ActivationParams activation;
  void fields(FieldVisitor& v) {
    conv.fields(v);
    v.field("output_channels", output_channels);
    v.field("layout", layout);
    activation.fields(v);
  }
};

}  // namespace tenon
