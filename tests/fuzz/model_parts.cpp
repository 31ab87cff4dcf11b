#include "model_parts.h"

namespace tenon::fuzz {

namespace {

using namespace wire;

class Collector {
 public:
  explicit Collector(ModelParts& parts) : parts_(parts) {}

  void add(Model& model) {
    add(model.graph);
    for (Function& function : model.functions) {
      function.raw = {};
      add(function.nodes);
      add(function.attribute_defaults);
      add(function.value_infos);
      add(function.opsets);
      for (Bytes name : function.inputs) parts_.names.push_back(name);
    }
    add(model.opsets);
  }

 private:
  void add(std::vector<OpsetImport>& opsets) {
    for (OpsetImport& opset : opsets) {
      opset.raw = {};
      parts_.opsets.push_back(&opset);
    }
  }

  void add(Graph& graph) {
    parts_.graphs.push_back(&graph);
    for (auto* list : {&graph.inputs, &graph.outputs, &graph.value_infos}) add(*list);
    for (TensorProto& tensor : graph.initializers) {
      add(tensor);
      parts_.names.push_back(tensor.name);
    }
    for (SparseTensorProto& sparse : graph.sparse_initializers) add(sparse);
    add(graph.nodes);
  }

  void add(std::vector<ValueInfo>& infos) {
    parts_.value_lists.push_back(&infos);
    for (ValueInfo& info : infos) {
      info.raw = {};
      parts_.names.push_back(info.name);
      if (info.has_type) add(info.type);
    }
  }

  void add(TypeProto& type) {
    type.raw = {};
    parts_.types.push_back(&type);
    if (type.element) add(*type.element);
  }

  void add(std::vector<Node>& nodes) {
    parts_.node_lists.push_back(&nodes);
    for (Node& node : nodes) {
      node.raw = {};
      parts_.nodes.push_back(&node);
      for (Bytes output : node.outputs) parts_.names.push_back(output);
      add(node.attributes);
    }
  }

  void add(std::vector<Attribute>& attributes) {
    parts_.attribute_lists.push_back(&attributes);
    for (Attribute& attribute : attributes) {
      attribute.raw = {};
      parts_.attributes.push_back(&attribute);
      if (attribute.type == AttributeType::String) parts_.strings.push_back(attribute.s);
      for (Bytes string : attribute.strings) parts_.strings.push_back(string);
      for (TensorProto& tensor : attribute.tensors) add(tensor);
      for (SparseTensorProto& sparse : attribute.sparse_tensors) add(sparse);
      for (auto& graph : attribute.graphs) add(*graph);
      for (TypeProto& type : attribute.types) add(type);
    }
  }

  void add(TensorProto& tensor) {
    tensor.raw = {};
    parts_.tensors.push_back(&tensor);
    for (StringEntry& entry : tensor.external_data) entry.raw = {};
  }

  void add(SparseTensorProto& sparse) {
    sparse.raw = {};
    add(sparse.values);
    add(sparse.indices);
  }

  ModelParts& parts_;
};

}  // namespace

ModelParts parts_of(wire::Model& model) {
  ModelParts parts;
  Collector(parts).add(model);
  return parts;
}

}  // namespace tenon::fuzz
