#include "onnx/onnx_map.h"

#include "onnx/ops/microsoft/fusions.h"

namespace tenon {

#define OP(name) \
  template <>    \
  void onnx_mapping<OpId::name>(OnnxMap & map);
#include "ops/ops.def"
#undef OP

Status OnnxMap::Entry::check_attributes(const ImportNode& node) const {
  for (const NeededAttribute& a : needed) {
    const bool applies = node.version() >= a.since && (a.until == 0 || node.version() < a.until);
    if (applies && !node.has_attribute(a.name))
      return invalid_model("{} (version {}) needs attribute '{}'", node.node().op_type, node.version(), a.name);
  }
  for (const std::string_view attribute : lacking)
    if (node.has_attribute(attribute))
      return unsupported("{} (version {}) has no attribute '{}'", node.node().op_type, node.version(), attribute);
  return {};
}

OnnxMap::Entry& OnnxMap::same(std::string_view domain, std::string_view op_type, OpId op) {
  return custom(domain, op_type, op, nullptr);
}

OnnxMap::Entry& OnnxMap::custom(std::string_view domain, std::string_view op_type, OpId op, ImportFunction import) {
  return entries_[{std::string(domain), std::string(op_type)}] = Entry{op, import};
}

const OnnxMap::Entry* OnnxMap::find(std::string_view domain, std::string_view op_type) const {
  auto it = entries_.find({std::string(domain), std::string(op_type)});
  return it == entries_.end() ? nullptr : &it->second;
}

void OnnxMap::attribute_inputs(OpId op, std::vector<AttributeInput> inputs) {
  ways_back_[op].attribute_inputs = std::move(inputs);
}

void OnnxMap::way_back(OpId op, std::string_view domain, std::string_view op_type, DraftFunction edit) {
  ways_back_[op].edits.push_back({domain, op_type, edit});
}

void OnnxMap::bodies(OpId op, std::vector<std::string_view> attributes) {
  ways_back_[op].bodies = std::move(attributes);
}

const OnnxMap::WaysBack& OnnxMap::ways_back(OpId op) const {
  static const WaysBack none;
  const auto it = ways_back_.find(op);
  return it == ways_back_.end() ? none : it->second;
}

std::vector<std::string_view> OnnxMap::domains(std::string_view op_type) const {
  std::vector<std::string_view> found;
  for (const auto& [name, entry] : entries_)
    if (name.second == op_type) found.emplace_back(name.first);
  return found;
}

const OnnxMap& onnx_map() {
  static const OnnxMap map = [] {
    OnnxMap m;
#define OP(name) onnx_mapping<OpId::name>(m);
#include "ops/ops.def"
#undef OP
    map_microsoft_activations(m);
    map_microsoft_attention(m);
    map_microsoft_block_quantized(m);
    map_microsoft_convolutions(m);
    map_microsoft_matmuls(m);
    map_microsoft_normalizations(m);
    map_microsoft_quantized(m);
    map_microsoft_quantized_layers(m);
    map_microsoft_sequences(m);
    map_microsoft_transforms(m);
    return m;
  }();
  return map;
}

}  // namespace tenon
