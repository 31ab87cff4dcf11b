#include "build/cache/graph_bytes.h"

#include <map>

#include "wire/onnx_write.h"

namespace tenon::build {

namespace {

using Initializers = std::map<wire::Bytes, const wire::TensorProto*>;

Initializers initializers_of(const wire::Model& model) {
  Initializers all;
  for (const wire::TensorProto& tensor : model.graph.initializers) all.emplace(tensor.name, &tensor);
  return all;
}

// An initializer of the original has no type in the bytes, which no initializer of a model is without.
wire::TensorProto stand_in(wire::Bytes name) {
  wire::TensorProto tensor;
  tensor.name = name;
  return tensor;
}
bool is_stand_in(const wire::TensorProto& tensor) { return tensor.data_type == 0; }

}  // namespace

std::optional<std::string> graph_to_bytes(const wire::Model& rewritten, const wire::Model& original) {
  wire::Model model = rewritten;
  const Initializers originals = initializers_of(original);
  for (wire::TensorProto& tensor : model.graph.initializers) {
    const auto found = originals.find(tensor.name);
    const bool is_same = found != originals.end() && tensor.raw.data() &&
                         found->second->raw.data() == tensor.raw.data() &&
                         found->second->raw.size() == tensor.raw.size();
    if (is_same) tensor = stand_in(tensor.name);
  }
  const auto encoded = wire::encode_model(model);
  if (!encoded.ok() || encoded->size() > kMostGraphBytes) return std::nullopt;
  return encoded->to_string();
}

std::optional<wire::Model> graph_from_bytes(wire::Bytes bytes, const wire::Model& original) {
  auto parsed = wire::parse_model(bytes);
  if (!parsed.ok()) return std::nullopt;
  wire::Model& model = *parsed;
  const Initializers originals = initializers_of(original);
  for (wire::TensorProto& tensor : model.graph.initializers) {
    if (!is_stand_in(tensor)) continue;
    const auto found = originals.find(tensor.name);
    if (found == originals.end()) return std::nullopt;
    tensor = *found->second;
  }
  model.producer_name = original.producer_name;
  model.producer_version = original.producer_version;
  model.domain = original.domain;
  model.doc = original.doc;
  model.model_version = original.model_version;
  model.metadata = original.metadata;
  model.other = original.other;
  model.graph.doc = original.graph.doc;
  model.graph.metadata = original.graph.metadata;
  model.graph.other = original.graph.other;
  return std::move(model);
}

}  // namespace tenon::build
