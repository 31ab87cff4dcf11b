#include "wire/onnx_fields.h"
#include "wire/onnx_parse.h"

namespace tenon::wire {

Model Parser::model(Bytes bytes) {
  using namespace field::model;
  Model model;
  model.raw = bytes;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case kIrVersion:
        model.ir_version = field.int64();
        // One that is written although it is zero stays in `other`, so that its presence survives.
        if (model.ir_version == 0) keep(model.other, field);
        break;
      case kProducerName:
        model.producer_name = parse_name(field);
        break;
      case kProducerVersion:
        model.producer_version = parse_name(field);
        break;
      case kDomain:
        model.domain = parse_name(field);
        break;
      case kModelVersion:
        model.model_version = field.int64();
        break;
      case kDoc:
        model.doc = field.bytes();
        break;
      case kGraph:
        if (model.has_graph) throw_given_twice("graph");
        model.graph = at("graph", -1, [&] { return graph(field.bytes()); });
        model.has_graph = true;
        break;
      case kOpset:
        append(model.opsets, "opset_import", [&] { return parse_opset(field.bytes()); });
        break;
      case kMetadata:
        append(model.metadata, "metadata_props", [&] { return parse_entry(field.bytes()); });
        break;
      case kTrainingInfo:
        model.training_info.push_back(field.bytes());
        break;
      case kFunction:
        append(model.functions, "functions", [&] { return function(field.bytes()); });
        break;
      default:
        keep(model.other, field);
    }
  }
  return model;
}

Function Parser::function(Bytes bytes) {
  using namespace field::function;
  Deeper deeper(*this, graph_depth_, "graphs");
  Function function;
  function.raw = bytes;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case kName:
        function.name = parse_name(field);
        break;
      case kDomain:
        function.domain = parse_name(field);
        break;
      case kOverload:
        function.overload = parse_name(field);
        break;
      case kDoc:
        function.doc = field.bytes();
        break;
      case kInput:
        function.inputs.push_back(parse_name(field));
        break;
      case kOutput:
        function.outputs.push_back(parse_name(field));
        break;
      case kAttributeName:
        function.attribute_names.push_back(parse_name(field));
        break;
      case kAttributeDefault:
        append(function.attribute_defaults, "attribute_proto", [&] { return attribute(field.bytes()); });
        break;
      case kNode:
        append(function.nodes, "node", [&] { return node(field.bytes()); });
        break;
      case kOpset:
        append(function.opsets, "opset_import", [&] { return parse_opset(field.bytes()); });
        break;
      case kValueInfo:
        append(function.value_infos, "value_info", [&] { return value_info(field.bytes()); });
        break;
      default:
        keep(function.other, field);
    }
  }
  return function;
}

}  // namespace tenon::wire
