#include "onnx/export.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx/graph_exporter.h"
#include "weights/source_names.h"

namespace tenon {

namespace {

using NameSet = std::set<std::string, std::less<>>;

// The names of values and nodes, also those in bodies.
void collect_names(const wire::Graph& graph, NameSet& names, NameSet& node_names) {
  for (const auto* infos : {&graph.inputs, &graph.outputs, &graph.value_infos})
    for (const wire::ValueInfo& info : *infos) names.emplace(info.name);
  for (const wire::TensorProto& tensor : graph.initializers) names.emplace(tensor.name);
  for (const wire::SparseTensorProto& tensor : graph.sparse_initializers) names.emplace(tensor.values.name);
  for (const wire::Node& node : graph.nodes) {
    node_names.emplace(node.name);
    for (wire::Bytes output : node.outputs) names.emplace(output);
    for (const wire::Attribute& a : node.attributes)
      for (const auto& body : a.graphs) collect_names(*body, names, node_names);
  }
}

wire::Bytes unused_name(NameSet& names, const std::string& like, wire::MessageBuilder& messages) {
  std::string name = like;
  for (int i = 1; !names.insert(name).second; ++i) name = fmt::format("{}_{}", like, i);
  return messages.keep(name);
}

// Imports what written nodes need and the model does not import yet.
void import_more(ModelExport& state, const wire::Graph& graph) {
  for (const wire::Node& node : graph.nodes) {
    const std::string domain(canonical_domain(node.domain));
    auto& opsets = state.exported.model.opsets;
    const auto more = state.options.more_opsets.find(domain);
    const auto is_it = [&](const wire::OpsetImport& opset) { return canonical_domain(opset.domain) == domain; };
    if (more != state.options.more_opsets.end() && std::ranges::none_of(opsets, is_it))
      opsets.push_back(state.exported.memory.messages.make_opset(domain, more->second));
    for (const wire::Attribute& a : node.attributes)
      for (const auto& body : a.graphs) import_more(state, *body);
  }
}

}  // namespace

ModelExport::ModelExport(const ImportedModel& imported, const ExportOptions& export_options, ExportedModel& target)
    : model(imported), options(export_options), exported(target),
      speller(imported, target.memory, export_options.more_opsets) {
  collect_names(imported.wire.graph, names, node_names);
}

wire::Bytes ModelExport::new_name(std::string_view like) {
  return unused_name(names, like.empty() ? "value" : std::string(like), exported.memory.messages);
}

wire::Bytes ModelExport::new_node_name(std::string_view like) {
  return like.empty() ? like : unused_name(node_names, std::string(like), exported.memory.messages);
}

std::string ModelExport::op_text(const wire::Node& node, std::string_view canonical) const {
  const std::string_view domain = canonical_domain(node.domain);
  const auto version = model.opsets.find(std::string(domain));
  return fmt::format("{}{}{} (version {}){}{}", domain, domain.empty() ? "" : ".", node.op_type,
                     version == model.opsets.end() ? 1 : version->second, canonical == node.op_type ? "" : ": ",
                     canonical == node.op_type ? "" : canonical);
}

Result<ExportedModel> export_model(const ImportedModel& model, const Graph& graph, const ExportOptions& options) {
  ExportedModel exported;
  exported.model = model.wire;
  ModelExport state(model, options, exported);
  TN_RETURN_IF_ERROR(GraphExporter(state, graph, {}).run(exported.model.graph));
  if (!state.inexpressible.empty())
    return unsupported("the op versions that the model imports cannot express: {}",
                       fmt::join(state.inexpressible, ", "));
  import_more(state, exported.model.graph);
  exported.kept.assign(state.kept.begin(), state.kept.end());
  return exported;
}

}  // namespace tenon
