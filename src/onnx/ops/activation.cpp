#include "ops/activation.h"

#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// One number of a tensor's element type, as the attributes of old versions give it.
Tensor limit_of(ImportNode& n, float value) {
  switch (n.type(n.input(0)).dtype) {
    case DType::Float16: {
      const Float16 number(value);
      return Tensor::of<Float16>({}, std::span(&number, 1));
    }
    case DType::Float64: {
      const double number = value;
      return Tensor::of<double>({}, std::span(&number, 1));
    }
    default:
      return Tensor::of<float>({}, std::span<const float>(&value, 1));
  }
}

// Before version 11 the limits are attributes.
void import_clip(ImportNode& n) {
  if (n.version() >= 11) {
    n.finish(n.emit(OpId::Clip, default_params(OpId::Clip), n.inputs()));
    return;
  }
  auto limit = [&](const char* name) {
    const float value = n.float_attribute(name, 0);
    return n.has_attribute(name) ? n.constant(limit_of(n, value)) : kNone;
  };
  const ValueId low = limit("min"), high = limit("max");
  n.finish(n.emit(OpId::Clip, default_params(OpId::Clip), {n.input(0), low, high}));
}

// Before version 7 a slope of one dimension belongs to axis 1.
void import_prelu(ImportNode& n) {
  ValueId slope = n.input(1);
  const auto rank = n.rank(n.input(0));
  if (n.version() < 7 && rank && *rank > 2 && n.rank(slope) == 1) {
    std::vector<int64_t> axes;
    for (int64_t i = 1; i < *rank - 1; ++i) axes.push_back(i);
    slope = n.emit1(OpId::Unsqueeze, default_params(OpId::Unsqueeze), {slope, n.int_constant(std::move(axes))});
  }
  n.finish(n.emit(OpId::PRelu, default_params(OpId::PRelu), {n.input(0), slope}));
}

// The first version has shorter constants.
void import_selu(ImportNode& n) {
  SeluParams params;
  if (n.version() < 6) {
    params.alpha = 1.6732f;
    params.gamma = 1.0507f;
  }
  params.alpha = n.float_attribute("alpha", params.alpha);
  params.gamma = n.float_attribute("gamma", params.gamma);
  n.finish(n.emit(OpId::Selu, Params::of(params), n.inputs()));
}

}  // namespace

#define MAPPED(name)                             \
  template <>                                    \
  void onnx_mapping<OpId::name>(OnnxMap & map) { \
    map.same(kOnnxDomain, #name, OpId::name);    \
  }
MAPPED(Celu)
MAPPED(Elu)
MAPPED(Gelu)
MAPPED(HardSigmoid)
MAPPED(HardSwish)
MAPPED(LeakyRelu)
MAPPED(Mish)
MAPPED(Relu)
MAPPED(Shrink)
MAPPED(Softplus)
MAPPED(Softsign)
MAPPED(SwiGLU)
MAPPED(Swish)
MAPPED(ThresholdedRelu)
#undef MAPPED

template <>
void onnx_mapping<OpId::Clip>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Clip", OpId::Clip, import_clip);
}

template <>
void onnx_mapping<OpId::PRelu>(OnnxMap& map) {
  map.custom(kOnnxDomain, "PRelu", OpId::PRelu, import_prelu);
}

template <>
void onnx_mapping<OpId::Selu>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Selu", OpId::Selu, import_selu);
}

}  // namespace tenon
