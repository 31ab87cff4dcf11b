#include "wire/onnx_fields.h"
#include "wire/onnx_parse.h"

namespace tenon::wire {

Graph Parser::graph(Bytes bytes) {
  using namespace field::graph;
  Deeper deeper(*this, graph_depth_, "graphs");
  Graph graph;
  graph.raw = bytes;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case kNode:
        append(graph.nodes, "node", [&] { return node(field.bytes()); });
        break;
      case kName:
        graph.name = parse_name(field);
        break;
      case kDoc:
        graph.doc = field.bytes();
        break;
      case kInitializer:
        append(graph.initializers, "initializer", [&] { return tensor(field.bytes()); });
        break;
      case kSparseInitializer:
        append(graph.sparse_initializers, "sparse_initializer", [&] { return sparse_tensor(field.bytes()); });
        break;
      case kInput:
        append(graph.inputs, "input", [&] { return value_info(field.bytes()); });
        break;
      case kOutput:
        append(graph.outputs, "output", [&] { return value_info(field.bytes()); });
        break;
      case kValueInfo:
        append(graph.value_infos, "value_info", [&] { return value_info(field.bytes()); });
        break;
      case kQuantization:
        graph.quantization_annotations.push_back(field.bytes());
        break;
      case kMetadata:
        append(graph.metadata, "metadata_props", [&] { return parse_entry(field.bytes()); });
        break;
      default:
        keep(graph.other, field);
    }
  }
  return graph;
}

Node Parser::node(Bytes bytes) {
  using namespace field::node;
  count_node();
  Node node;
  node.raw = bytes;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case kInput:
        node.inputs.push_back(parse_name(field));
        break;
      case kOutput:
        node.outputs.push_back(parse_name(field));
        break;
      case kName:
        node.name = parse_name(field);
        break;
      case kOpType:
        node.op_type = parse_name(field);
        break;
      case kDomain:
        node.domain = parse_name(field);
        break;
      case kOverload:
        node.overload = parse_name(field);
        break;
      case kAttribute:
        append(node.attributes, "attribute", [&] { return attribute(field.bytes()); });
        break;
      default:
        keep(node.other, field);
    }
  }
  return node;
}

}  // namespace tenon::wire
