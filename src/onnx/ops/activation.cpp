#include "ops/activation.h"

#include <algorithm>

#include "onnx/onnx_map.h"
#include "onnx/ops/any_rank.h"

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

// A slope of one dimension with as many axes behind it as x has behind axis 1.
ValueId slope_of_channels(ImportNode& n, ValueId x, ValueId slope) {
  if (const auto rank = n.rank(x); rank && n.rank(slope))
    return insert_axes(n, slope, kEnd, std::max<int64_t>(*rank - 2, 0));
  const auto plain = [&](OpId op, ValueId a, ValueId b) { return n.emit1(op, default_params(op), {a, b}); };
  const auto number = [&](int64_t i) { return n.int_constant({i}); };
  ValueId count = plain(OpId::Max, plain(OpId::Sub, rank_value(n, x), number(2)), number(0));
  if (!n.rank(slope)) {
    const ValueId is_vector = plain(OpId::Equal, rank_value(n, slope), number(1));
    count = n.emit1(OpId::Where, default_params(OpId::Where), {is_vector, count, number(0)});
  }
  return insert_open_axes(n, slope, kEnd, count);
}

// Before version 7 a slope of one dimension belongs to axis 1.
void import_prelu(ImportNode& n) {
  ValueId slope = n.input(1);
  if (n.version() < 7 && n.rank(slope).value_or(1) == 1) slope = slope_of_channels(n, n.input(0), slope);
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
  map.attribute_inputs(OpId::Clip, {{1, "min", AttributeInput::Kind::Float}, {2, "max", AttributeInput::Kind::Float}});
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
