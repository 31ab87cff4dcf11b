#include "wire/onnx_tensors.h"

namespace tenon::wire {

namespace {

class Visitor {
 public:
  explicit Visitor(FunctionRef<void(const TensorProto&)> visit) : visit_(visit) {}

  void graph(const Graph& graph) {
    for (const TensorProto& tensor : graph.initializers) visit_(tensor);
    for (const SparseTensorProto& tensor : graph.sparse_initializers) sparse(tensor);
    nodes(graph.nodes);
  }
  void function(const Function& function) {
    for (const Attribute& attribute : function.attribute_defaults) parts(attribute);
    nodes(function.nodes);
  }

 private:
  void sparse(const SparseTensorProto& tensor) {
    visit_(tensor.values);
    visit_(tensor.indices);
  }
  void nodes(const std::vector<Node>& nodes) {
    for (const Node& node : nodes)
      for (const Attribute& attribute : node.attributes) parts(attribute);
  }
  void parts(const Attribute& attribute) {
    for (const TensorProto& tensor : attribute.tensors) visit_(tensor);
    for (const SparseTensorProto& tensor : attribute.sparse_tensors) sparse(tensor);
    for (const auto& body : attribute.graphs) graph(*body);
  }

  FunctionRef<void(const TensorProto&)> visit_;
};

}  // namespace

void for_each_tensor(const Model& model, FunctionRef<void(const TensorProto&)> visit) {
  Visitor visitor(visit);
  visitor.graph(model.graph);
  for (const Function& function : model.functions) visitor.function(function);
}

}  // namespace tenon::wire
