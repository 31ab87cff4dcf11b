#include "passes/optimize_model.h"

#include <algorithm>
#include <set>

#include "onnx/export_objection.h"
#include "onnx/onnx_map.h"
#include "onnx/spelling.h"
#include "passes/fingerprint.h"
#include "passes/normalize/whole_node.h"
#include "passes/pass_set_version.h"
#include "passes/stamp.h"
#include "plan/context_model.h"
#include "weights/source_names.h"

namespace tenon {

namespace {

// The groups of these nodes that stay one node when their call goes.
std::set<GroupId> whole_nodes(const ImportedModel& model, const Graph& graph, const std::vector<NodeId>& nodes) {
  std::set<GroupId> whole;
  if (!model.opsets.contains(std::string(kMicrosoftDomain))) return whole;
  for (NodeId id : nodes)
    if (moves_whole(graph, graph.node(id).group)) whole.insert(graph.node(id).group);
  return whole;
}

// Calls whose bodies can be written in the versions of the model become the nodes of their bodies.
void inline_functions(const ImportedModel& model, Graph& graph, ChangeLog& log) {
  std::map<GroupId, std::vector<NodeId>> calls;
  for (const GraphNode& node : graph.nodes()) {
    for (const auto& body : node.bodies) inline_functions(model, *body, log);
    GroupId group = node.group;
    if (group == kNone || graph.group(group).call == kNone) continue;
    while (graph.group(group).call != kNone) group = graph.group(group).call;
    calls[group].push_back(node.id);
  }
  for (const auto& [call, nodes] : calls) {
    const wire::Node& wire = *graph.group(call).wire;
    const std::string name = readable_name(wire);
    const std::set<GroupId> whole = whole_nodes(model, graph, nodes);
    std::vector<NodeId> others;
    std::ranges::copy_if(nodes, std::back_inserter(others),
                         [&](NodeId id) { return !whole.contains(graph.node(id).group); });
    if (!can_be_spelled(model, graph, others)) {
      log.misses.push_back(
          {"inline_functions", name, "the op versions that the model imports cannot express its body"});
      continue;
    }
    Patch::Change change;
    change.label = "inline_functions";
    change.reason = "a call is written as the nodes of its function";
    change.root = name;
    change.removed = {fmt::format("{} '{}'", wire.op_type, name)};
    Provenance from;
    from.add_node(name);
    from.add_rule(change.label);
    const auto made_from = std::make_shared<const Provenance>(std::move(from));
    for (NodeId id : nodes) {
      change.added.emplace_back(op_def(graph.node(id).op).name);
      graph.node(id).made_from = made_from;
    }
    log.changes.push_back(std::move(change));
    for (GroupId id : whole) graph.group(id).call = kNone;
    graph.touch(call);
  }
}

void collect_calls(const std::vector<wire::Node>& nodes, std::set<std::string>& called);

void collect_calls(const wire::Graph& graph, std::set<std::string>& called) { collect_calls(graph.nodes, called); }

void collect_calls(const std::vector<wire::Node>& nodes, std::set<std::string>& called) {
  for (const wire::Node& node : nodes) {
    called.insert(function_key(canonical_domain(node.domain), node.op_type, node.overload));
    for (const wire::Attribute& a : node.attributes)
      for (const auto& body : a.graphs) collect_calls(*body, called);
  }
}

void remove_unused_functions(wire::Model& model) {
  std::set<std::string> called, seen;
  collect_calls(model.graph, called);
  // What is called by what is called, and so on.
  while (seen.size() != called.size()) {
    seen = called;
    for (const wire::Function& f : model.functions)
      if (seen.contains(function_key(canonical_domain(f.domain), f.name, f.overload))) collect_calls(f.nodes, called);
  }
  std::erase_if(model.functions, [&](const wire::Function& f) {
    return !called.contains(function_key(canonical_domain(f.domain), f.name, f.overload));
  });
}

void put_stamp(ExportedModel& exported, const Stamp& stamp) {
  auto& metadata = exported.model.metadata;
  const auto entry = exported.memory.messages.make_entry(kStampKey, stamp_text(stamp));
  const auto it = std::ranges::find(metadata, kStampKey, &wire::StringEntry::key);
  if (it == metadata.end())
    metadata.push_back(entry);
  else
    *it = entry;
}

// The domains beside ONNX's own that capabilities write ops of.
NodeAlone::Opsets more_opsets(const CapabilitySet& capabilities) {
  NodeAlone::Opsets more;
  for (const CapabilityInfo& info : all_capabilities())
    for (const ProducedOp& op : info.produces)
      if (capabilities.has(info.id) && !op.domain.empty()) more.emplace(op.domain, op.least_version);
  return more;
}

}  // namespace

Result<RewrittenModel> optimize_model(const ImportedModel& model, const CapabilitySet& capabilities,
                                      const PatchObserver& observe) {
  TN_RETURN_IF_ERROR(check_not_compiled(model.wire));
  RewrittenModel optimized;
  Graph graph = model.graph.clone();
  if (capabilities.has(Capability::InlineFunctions)) inline_functions(model, graph, optimized.log);
  const NodeAlone::Opsets more = more_opsets(capabilities);
  const auto onnx = std::make_shared<NodeMaker>(model, with_more(model, more));
  RewriteOptions options{.objection = export_objection(model, more), .must_descend = true, .applied = nullptr};
  if (observe)
    options.applied = [&](const Patch::Change& change, size_t number) { return observe(graph, change, number); };
  TN_RETURN_IF_ERROR(run_passes(graph, capabilities, optimized.log, options, onnx.get()));
  optimized.made = onnx;
  TN_ASSIGN_OR_RETURN(optimized.exported, export_model(model, graph, {.normal_form = true, .more_opsets = more}));
  wire::Model& out = optimized.exported.model;
  if (capabilities.has(Capability::RemoveUnused)) remove_unused_functions(out);
  optimized.nodes_before = model.wire.graph.nodes.size();
  optimized.nodes_after = out.graph.nodes.size();
  TN_ASSIGN_OR_RETURN(const Hash128 before, fingerprint(model.wire, model.bytes, model.external.get()));
  TN_ASSIGN_OR_RETURN(const Hash128 after, fingerprint(out, model.bytes, model.external.get()));
  optimized.changed = before != after;
  put_stamp(optimized.exported, {pass_set_version(), capabilities, after});
  return optimized;
}

Status renew_stamp(ExportedModel& exported, const std::shared_ptr<const void>& bytes, wire::ExternalData* external,
                   const CapabilitySet& capabilities) {
  TN_ASSIGN_OR_RETURN(const Hash128 content, fingerprint(exported.model, bytes, external));
  put_stamp(exported, {pass_set_version(), capabilities, content});
  return {};
}

Result<bool> is_stamped_as_done(const wire::Model& model, const std::shared_ptr<const void>& bytes,
                                wire::ExternalData* external, const CapabilitySet& capabilities) {
  const auto stamp = read_stamp(model);
  // Where more rules found nothing, fewer find nothing either.
  if (!stamp || stamp->passes != pass_set_version() || !stamp->capabilities.contains(capabilities)) return false;
  TN_ASSIGN_OR_RETURN(const Hash128 content, fingerprint(model, bytes, external));
  return content == stamp->content;
}

}  // namespace tenon
