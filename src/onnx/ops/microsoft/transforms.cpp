#include "onnx/ops/microsoft/emit.h"
#include "onnx/ops/microsoft/fusions.h"
#include "ops/fourier.h"

namespace tenon {

namespace {

// Both know one kind of transform only: along the last axis of the signal, one-sided, scaled when inverse.
void check_transform(ImportNode& n) {
  if (const int64_t axes = n.int_attribute("signal_ndim", 1); axes != 1)
    n.fail(unsupported("signal_ndim is {}; it must be 1", axes));
  if (n.int_attribute("normalized", 0) != 0) n.fail(unsupported("normalized must be 0"));
  if (n.int_attribute("onesided", 1) != 1) n.fail(unsupported("onesided must be 1"));
}

ValueId transform(ImportNode& n, ValueId x, bool inverse) {
  const ValueId axis = n.constant(Tensor::scalar(-2));
  return n.emit1(OpId::DFT, Params::of(DFTParams{inverse, true}), {x, kNone, axis});
}

void import_rfft(ImportNode& n) {
  check_transform(n);
  n.finish({transform(n, emit::unsqueeze(n, n.input(0), {-1}), false)});
}

void import_irfft(ImportNode& n) {
  check_transform(n);
  const ValueId real = transform(n, n.input(0), true);
  n.finish({n.emit1(OpId::Squeeze, default_params(OpId::Squeeze), {real, n.int_constant({-1})})});
}

}  // namespace

void map_microsoft_transforms(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "Rfft", OpId::DFT, import_rfft);
  map.custom(kMicrosoftDomain, "Irfft", OpId::DFT, import_irfft);
}

}  // namespace tenon
