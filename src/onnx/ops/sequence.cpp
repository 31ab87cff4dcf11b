#include "onnx/node_draft.h"
#include "ops/optional.h"

namespace tenon {

namespace {

// Sequences reach the body one element at a time, everything else as it is.
void import_sequence_map(ImportNode& n) {
  std::vector<Type> types;
  for (ValueId v : n.inputs()) {
    const Type& type = n.type(v);
    const bool is_sequence = type.kind == Type::Kind::Sequence;
    types.push_back(is_sequence ? (type.element ? without_shape(*type.element) : Type{}) : type);
  }
  auto body = n.body_attribute("body", types);
  if (n.status().ok() && body->inputs.size() != n.input_count())
    return n.fail(invalid_model("the body takes {} inputs, but {} are given", body->inputs.size(), n.input_count()));
  n.finish(n.emit(OpId::SequenceMap, default_params(OpId::SequenceMap), n.inputs(), n.output_count(), {body}));
}

void import_optional(ImportNode& n) {
  Type type = n.type_attribute("type");
  OptionalParams params;
  params.is_sequence = type.kind == Type::Kind::Sequence;
  if (params.is_sequence && type.element) type = Type(*type.element);
  if (type.kind != Type::Kind::Unknown && !type.is_tensor())
    return n.fail(unsupported("an optional of {} is not supported", type.to_string()));
  params.elem_type = type.dtype;
  n.finish(n.emit(OpId::Optional, Params::of(params), n.inputs()));
}

bool write_optional(NodeDraft& d) {
  d.attributes.clear();
  if (d.inputs.empty()) d.set_type("type", d.params<OptionalParams>().element());
  return true;
}

}  // namespace

#define SAME_IN_EVERY_VERSION(name)              \
  template <>                                    \
  void onnx_mapping<OpId::name>(OnnxMap & map) { \
    map.same(kOnnxDomain, #name, OpId::name);    \
  }

SAME_IN_EVERY_VERSION(ConcatFromSequence)
SAME_IN_EVERY_VERSION(OptionalGetElement)
SAME_IN_EVERY_VERSION(OptionalHasElement)
SAME_IN_EVERY_VERSION(SequenceAt)
SAME_IN_EVERY_VERSION(SequenceConstruct)
SAME_IN_EVERY_VERSION(SequenceEmpty)
SAME_IN_EVERY_VERSION(SequenceErase)
SAME_IN_EVERY_VERSION(SequenceInsert)
SAME_IN_EVERY_VERSION(SequenceLength)
SAME_IN_EVERY_VERSION(SplitToSequence)

#undef SAME_IN_EVERY_VERSION

template <>
void onnx_mapping<OpId::SequenceMap>(OnnxMap& map) {
  map.custom(kOnnxDomain, "SequenceMap", OpId::SequenceMap, import_sequence_map);
  map.bodies(OpId::SequenceMap, {"body"});
}

template <>
void onnx_mapping<OpId::Optional>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Optional", OpId::Optional, import_optional);
  map.way_back(OpId::Optional, kOnnxDomain, "Optional", write_optional);
}

}  // namespace tenon
