#include "plan/context_model.h"

#include <algorithm>
#include <set>

#include "plan/context_names.h"

namespace tenon {

namespace {

using wire::Bytes;
using namespace context_names;

constexpr int64_t kDomainVersion = 1;
// The first version of ONNX in which models say which operator sets they use.
constexpr int64_t kFirstIrWithOpsets = 3;

Result<std::vector<wire::ValueInfo>> inputs_of(const wire::Model& source, const Plan& plan) {
  std::vector<wire::ValueInfo> inputs;
  for (const PlanInput& input : plan.inputs) {
    const std::string& name = plan.values[static_cast<size_t>(input.value)].name;
    const auto it = std::ranges::find(source.graph.inputs, name, &wire::ValueInfo::name);
    if (it == source.graph.inputs.end())
      return error(Code::Internal, "the plan has an input '{}', but the model has none of that name", name);
    inputs.push_back(*it);
  }
  return inputs;
}

// An output that is an input has no node that makes it.
std::vector<Bytes> made_outputs(const wire::Graph& graph) {
  std::set<Bytes> known;
  for (const wire::ValueInfo& input : graph.inputs) known.insert(input.name);
  std::vector<Bytes> names;
  for (const wire::ValueInfo& output : graph.outputs)
    if (known.insert(output.name).second) names.push_back(output.name);
  return names;
}

wire::Node make_node(const wire::Graph& graph, const ContextNode& context, wire::MessageBuilder& builder) {
  std::vector<Bytes> inputs;
  for (const wire::ValueInfo& input : graph.inputs) inputs.push_back(input.name);
  wire::Node node = builder.make_node(kOpType, kDomain, inputs, made_outputs(graph), context.model_name);
  // Not through the builder, which would copy it.
  wire::Attribute data = builder.make_string(kData, "");
  data.s = context.embedded ? context.payload : context.file_name;
  node.attributes = {builder.make_string(kSource, kTenon),
                     builder.make_int(kMain, 1),
                     builder.make_int(kEmbedMode, context.embedded),
                     std::move(data),
                     builder.make_string(kPartition, context.plan_key.hex()),
                     builder.make_string(kVersion, context.version),
                     builder.make_string(kArchitecture, context.architecture),
                     builder.make_string(kSourceModel, context.source_model),
                     builder.make_string(kNotes, context.content_id.hex())};
  return node;
}

void import_opsets(wire::Model& model, wire::MessageBuilder& builder) {
  if (model.ir_version < kFirstIrWithOpsets) {
    model.ir_version = kFirstIrWithOpsets;
    if (model.opsets.empty()) model.opsets.push_back(builder.make_opset("", 1));
  }
  if (std::ranges::find(model.opsets, kDomain, &wire::OpsetImport::domain) == model.opsets.end())
    model.opsets.push_back(builder.make_opset(kDomain, kDomainVersion));
}

}  // namespace

Result<wire::Model> make_context_model(const wire::Model& source, const Plan& plan, const ContextNode& context,
                                       wire::MessageBuilder& builder) {
  wire::Model model = source;
  model.raw = {};
  model.functions.clear();
  model.training_info.clear();
  // A note is about the file that has it.
  std::erase_if(model.metadata, [](const wire::StringEntry& e) { return e.key == kValidation; });
  import_opsets(model, builder);
  wire::Graph& graph = model.graph;
  graph.raw = {};
  graph.nodes.clear();
  graph.initializers.clear();
  graph.sparse_initializers.clear();
  graph.value_infos.clear();
  graph.quantization_annotations.clear();
  TN_ASSIGN_OR_RETURN(graph.inputs, inputs_of(source, plan));
  graph.nodes.push_back(make_node(graph, context, builder));
  return model;
}

}  // namespace tenon
