#include "onnx/export_objection.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "onnx/spelling.h"

namespace tenon {

namespace {

class ExportObjection {
 public:
  ExportObjection(const ImportedModel& model, const NodeAlone::Opsets& more) : speller_(model, memory_, more) {}

  std::optional<std::string> operator()(const Patch& patch) const {
    const Graph& graph = patch.graph();
    for (NodeId id : patch.new_nodes())
      if (!patch.group_of(id) && !can_spell(graph, graph.node(id)))
        return fmt::format("the op versions that the model imports have no form for {}",
                           op_def(graph.node(id).op).name);
    const std::vector<NodeId> dying = patch.dying_nodes();
    const std::set<NodeId> goes(dying.begin(), dying.end());
    for (const auto& [old, made] : patch.redefined())
      if (const NodeId maker = graph.value(old).producer; maker != kNone && !goes.contains(maker))
        if (auto why = keeps_whole(graph, graph.node(maker))) return why;
    for (NodeId id : dying)
      if (auto why = keeps_call(graph, graph.node(id).group)) return why;
    for (const auto& [old, existing] : patch.forwarded())
      for (const Use& use : graph.value(old).uses)
        if (use.node != kNone && !goes.contains(use.node))
          if (auto why = cannot_read_another(graph, graph.node(use.node), old)) return why;
    return std::nullopt;
  }

  bool can_spell(const Graph& graph, const GraphNode& node) const {
    if (!speller_.spell(graph, node)) return false;
    return std::ranges::all_of(node.bodies, [&](const auto& body) {
      return body->wire || std::ranges::all_of(body->nodes(), [&](const GraphNode& n) { return can_spell(*body, n); });
    });
  }

 private:
  static GroupId outermost(const Graph& graph, GroupId group) {
    while (group != kNone && graph.group(group).call != kNone) group = graph.group(group).call;
    return group;
  }

  // Calls that stay calls keep what is inside of them.
  static std::optional<std::string> keeps_call(const Graph& graph, GroupId group) {
    const GroupId call = outermost(graph, group);
    if (call == kNone || call == group || graph.group(call).touched) return std::nullopt;
    return fmt::format("it is inside of the function {}, which stays a call", graph.group(call).wire->op_type);
  }

  std::optional<std::string> keeps_whole(const Graph& graph, const GraphNode& node) const {
    if (node.group == kNone) return std::nullopt;
    if (auto why = keeps_call(graph, node.group)) return why;
    const Group& group = graph.group(node.group);
    if (group.touched || group.nodes.size() == 1) return std::nullopt;
    return fmt::format("it would take the node '{}' ({}) apart", group.wire->name, group.wire->op_type);
  }

  // A node whose ONNX form does not name the value as an input is written anew.
  std::optional<std::string> cannot_read_another(const Graph& graph, const GraphNode& node, ValueId v) const {
    const GroupId written = outermost(graph, node.group);
    if (written == kNone || graph.group(written).touched) return std::nullopt;
    if (std::ranges::find(graph.group(written).slots, v) != graph.group(written).slots.end()) return std::nullopt;
    if (auto why = keeps_whole(graph, node)) return why;
    if (can_spell(graph, node)) return std::nullopt;
    return fmt::format("the op versions that the model imports have no other form for {}", op_def(node.op).name);
  }

  mutable ExportMemory memory_;  // of forms that are tried
  Speller speller_;
};

}  // namespace

std::function<std::optional<std::string>(const Patch&)> export_objection(
    const ImportedModel& model, const std::unordered_map<std::string, int64_t>& more_opsets) {
  auto objection = std::make_shared<ExportObjection>(model, more_opsets);
  return [objection](const Patch& patch) { return (*objection)(patch); };
}

bool can_be_spelled(const ImportedModel& model, const Graph& graph, const std::vector<NodeId>& nodes) {
  const ExportObjection objection(model, {});
  return std::ranges::all_of(nodes, [&](NodeId id) { return objection.can_spell(graph, graph.node(id)); });
}

}  // namespace tenon
