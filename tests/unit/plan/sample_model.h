#pragma once

#include "plan/context_model.h"
#include "unit/plan/sample_program.h"
#include "wire/onnx_write.h"

namespace tenon {

inline wire::TypeProto tensor_type(DType dtype, const std::vector<std::string_view>& dims) {
  wire::TypeProto type;
  type.kind = wire::TypeProto::Kind::Tensor;
  type.elem_type = static_cast<int64_t>(dtype);
  type.shape.emplace();
  for (const std::string_view dim : dims) {
    wire::DimensionProto proto;
    if (dim == "2")
      proto.value = 2;
    else
      proto.param = dim;
    type.shape->push_back(proto);
  }
  return type;
}

// A model with the inputs and outputs of the sample program, one output that is an input, and one input whose
// initializer became a weight.
struct SampleModel {
  wire::MessageBuilder builder;
  wire::Model model;
  Program program = sample_program();
  ContextNode context;

  SampleModel() {
    model.ir_version = 10;
    model.producer_name = "sample";
    model.opsets = {builder.make_opset("", 21)};
    model.metadata = {builder.make_entry("license", "none")};
    model.has_graph = true;
    wire::Graph& graph = model.graph;
    graph.name = "main";
    graph.doc = "documentation";
    wire::TypeProto list;
    list.kind = wire::TypeProto::Kind::Sequence;
    list.element = std::make_shared<wire::TypeProto>(tensor_type(DType::Int64, {"n"}));
    graph.inputs = {builder.make_value_info("c", tensor_type(DType::Bool, {})),
                    builder.make_value_info("data", tensor_type(DType::Float32, {"batch", "2"})),
                    builder.make_value_info("weight", tensor_type(DType::Float32, {"2"})),
                    builder.make_value_info("list", list)};
    graph.outputs = {builder.make_value_info("z", tensor_type(DType::Float32, {"batch", "n"})),
                     builder.make_value_info("data", tensor_type(DType::Float32, {"batch", "2"}))};
    const int64_t dims[] = {2};
    static const std::string kZeros(8, '\0');
    graph.initializers = {builder.make_tensor_raw("weight", DType::Float32, dims, kZeros)};
    const wire::Bytes inputs[] = {"data"}, outputs[] = {"z"};
    graph.nodes = {builder.make_node("Relu", "", inputs, outputs)};
    program.plan.outputs = {5, 1};
    program.plan.output_names = {"z", "data"};
    context.file_name = "sample.bin";
    context.plan_key = hash_bytes("plan");
    context.content_id = hash_bytes("file");
    context.version = "1.2.3";
    context.architecture = kAnyLittleEndian;
    context.source_model = "model.onnx";
  }
  std::string write() {
    const auto made = make_context_model(model, program.plan, context, builder);
    return made.ok() ? wire::write_model(*made).value() : "failed: " + made.status().to_string();
  }
};

}  // namespace tenon
