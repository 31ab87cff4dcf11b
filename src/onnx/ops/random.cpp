#include "ops/random.h"

#include "onnx/node_draft.h"
#include "ops/cast.h"

namespace tenon {

namespace {

ValueId truth(ImportNode& n, bool value) {
  auto tensor = Tensor::allocate(DType::Bool, {}, nullptr);
  if (!tensor.ok()) return n.fail(tensor.status()), kNone;
  tensor->as_mutable<bool>()[0] = value;
  return n.constant(*tensor);
}

// Before version 12 the ratio is an attribute and no input asks for training; only the first two versions can train.
// Before version 10 the mask has the data's type.
void import_dropout(ImportNode& n) {
  if (n.version() >= 12) {
    n.finish(n.emit(OpId::Dropout, n.read_params(OpId::Dropout), n.inputs(), n.output_count()));
    return;
  }
  const float ratio = n.float_attribute("ratio", 0.5f);
  const bool training = n.version() < 7 && n.int_attribute("is_test", 0) == 0;
  const ValueId given = n.constant(Tensor::of<float>({}, std::span<const float>(&ratio, 1)));
  auto results =
      n.emit(OpId::Dropout, default_params(OpId::Dropout), {n.input(0), given, truth(n, training)}, n.output_count());
  if (n.version() < 10 && results.size() > 1) {
    CastParams params;
    params.to = n.type(n.input(0)).dtype;
    results[1] = n.emit1(OpId::Cast, Params::of(params), {results[1]});
  }
  n.finish(results);
}

bool write_old_dropout(NodeDraft& d) {
  const auto training = d.constant(2);
  if (d.version >= 12 || !training || training->dtype() != DType::Bool) return false;
  if (!d.move_to_attribute({1, "ratio", AttributeInput::Kind::Float})) return false;
  if (d.version < 7) d.set_int("is_test", training->as<bool>()[0] ? 0 : 1);
  d.inputs.resize(1);
  return true;
}

}  // namespace

#define MAPPED(name, ...)                                 \
  template <>                                             \
  void onnx_mapping<OpId::name>(OnnxMap & map) {          \
    map.same(kOnnxDomain, #name, OpId::name) __VA_ARGS__; \
  }
MAPPED(Bernoulli)
MAPPED(Multinomial)
MAPPED(RandomNormal, .needs("shape"))
MAPPED(RandomNormalLike)
MAPPED(RandomUniform, .needs("shape"))
MAPPED(RandomUniformLike)
#undef MAPPED

template <>
void onnx_mapping<OpId::Dropout>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Dropout", OpId::Dropout, import_dropout);
  map.way_back(OpId::Dropout, kOnnxDomain, "Dropout", write_old_dropout);
}

}  // namespace tenon
