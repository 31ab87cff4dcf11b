// Convolutions and poolings with other layouts than channels first, or with what follows them fused in.
#include "ops/convolution.h"

#include "onnx/ops/any_rank.h"
#include "onnx/ops/microsoft/emit.h"
#include "onnx/ops/microsoft/fusions.h"
#include "ops/pooling.h"

namespace tenon {

namespace {

// What `compute` makes of an image with channels first, for an image with channels last.
template <class Compute>
ValueId with_channels_first(ImportNode& n, ValueId image, Compute compute) {
  if (const auto rank = n.rank(image); rank && *rank < 3)
    return n.fail(invalid_model("an image must have at least 3 axes, but this one has {}", *rank)), image;
  return to_channels_last(n, compute(to_channels_first(n, image)));
}

// The activation an attribute names; `activation_params` has all its numbers or is absent.
emit::Activation fused_activation(ImportNode& n) {
  emit::Activation a;
  a.name = n.string_attribute("activation", "");
  const auto numbers = n.floats_attribute("activation_params");
  size_t wanted = a.name == "LeakyRelu" || a.name == "Elu" || a.name == "Celu" || a.name == "ThresholdedRelu";
  if (a.name == "Clip" || a.name == "HardSigmoid") wanted = 2;
  if (!numbers.empty() && numbers.size() != wanted)
    n.fail(invalid_model("activation_params has {} numbers, but the activation '{}' needs {}", numbers.size(), a.name,
                         wanted));
  if (!numbers.empty()) a.alpha = numbers[0];
  if (numbers.size() > 1) a.beta = numbers[1];
  return a;
}

// Inputs: image, weights, bias, and what is added before the activation.
void import_fused_conv(ImportNode& n) {
  const emit::Activation activation = fused_activation(n);
  const ValueId y = n.emit1(OpId::Conv, n.read_params(OpId::Conv), {n.input(0), n.input(1), n.input(2)});
  n.finish({emit::activation(n, emit::add(n, y, n.input(3)), activation)});
}

// Only the images have their channels last; the weights keep ONNX's layout.
ValueId nhwc_conv(ImportNode& n) {
  const Params params = n.read_params(OpId::Conv);
  return with_channels_first(n, n.input(0),
                             [&](ValueId x) { return n.emit1(OpId::Conv, params, {x, n.input(1), n.input(2)}); });
}

void import_nhwc_conv(ImportNode& n) { n.finish({nhwc_conv(n)}); }

void import_nhwc_fused_conv(ImportNode& n) {
  const emit::Activation activation = fused_activation(n);
  n.finish({emit::activation(n, emit::add(n, nhwc_conv(n), n.input(3)), activation)});
}

void import_nhwc_max_pool(ImportNode& n) {
  MaxPoolParams params;
  params.window = n.read_params<WindowParams>();
  params.ceil_mode = n.int_attribute("ceil_mode", 0) != 0;
  n.finish({with_channels_first(
      n, n.input(0), [&](ValueId x) { return n.emit1(OpId::MaxPool, Params::of(std::move(params)), {x}); })});
}

void import_qlinear_conv(ImportNode& n) {
  const Params params = n.read_params(OpId::QLinearConv);
  std::vector<ValueId> inputs = n.inputs();
  const auto convolve = [&](ValueId x) {
    if (!inputs.empty()) inputs[0] = x;
    return n.emit1(OpId::QLinearConv, params, inputs);
  };
  const bool last = n.int_attribute("channels_last", 0) != 0;
  n.finish({last ? with_channels_first(n, n.input(0), convolve) : convolve(n.input(0))});
}

}  // namespace

void map_microsoft_convolutions(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "FusedConv", OpId::Conv, import_fused_conv);
  map.custom(kMicrosoftDomain, "NhwcConv", OpId::Conv, import_nhwc_conv);
  map.custom(kMicrosoftDomain, "NhwcFusedConv", OpId::Conv, import_nhwc_fused_conv);
  map.custom(kMicrosoftDomain, "NhwcMaxPool", OpId::MaxPool, import_nhwc_max_pool);
  map.custom(kMicrosoftDomain, "QLinearConv", OpId::QLinearConv, import_qlinear_conv);
}

}  // namespace tenon
