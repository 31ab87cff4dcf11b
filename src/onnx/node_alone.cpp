#include "onnx/node_alone.h"

#include <fmt/format.h>

#include "onnx/graph_importer.h"
#include "wire/onnx_build.h"

namespace tenon {

Status NodeAlone::read() {
  wire::MessageBuilder messages;
  std::vector<wire::Bytes> inputs, outputs;
  for (ValueId v : node_.inputs) inputs.push_back(v == kNone ? "" : messages.keep(fmt::format("v{}", v.index())));
  for (size_t i = 0; i < node_.outputs.size(); ++i)
    outputs.push_back(node_.outputs[i] ? messages.keep(fmt::format("r{}", i)) : "");
  auto& nodes = alone_.wire.graph.nodes;
  nodes.push_back(messages.make_node(node_.op_type, node_.domain, inputs, outputs, "alone"));
  nodes[0].attributes = node_.attributes;
  // A symbol of its own must not be taken for one of the graph's.
  alone_.graph.constants->symbols() = graph_.constants->symbols();
  ModelImport state{alone_, alone_.options};  // it names the weights among the attributes
  GraphImporter importer(state, alone_.graph, nullptr, opsets_, nullptr);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].empty() && importer.lookup(inputs[i]) == kNone)
      TN_RETURN_IF_ERROR(importer.define(inputs[i], copy_of(node_.inputs[i])));
  TN_RETURN_IF_ERROR(importer.import_nodes(nodes));
  for (const GraphNode& node : alone_.graph.nodes())
    if (!node.outputs.empty()) computing_.push_back(node.id);
  return computing_.empty() ? unsupported("{} computes nothing", node_.op_type) : Status();
}

const std::vector<ValueId>& NodeAlone::results() const {
  return alone_.graph.group(alone_.graph.node(computing_[0]).group).results;
}

ValueId NodeAlone::original(ValueId v) const {
  const auto it = originals_.find(v);
  return it == originals_.end() ? ValueId(kNone) : it->second;
}

ValueId NodeAlone::copy_of(ValueId v) {
  const GraphValue& value = graph_.value(v);
  ValueId copy;
  if (const Constant* constant = graph_.constant(v)) {
    copy = alone_.graph.add_constant(*constant, "");
  } else {
    copy = alone_.graph.add_value("", value.type);
    alone_.graph.value(copy).known = value.known;
  }
  originals_.emplace(copy, v);
  return copy;
}

}  // namespace tenon
