#include "passes/normalize/rules.h"

namespace tenon {

void remove_unused_nodes(Graph& graph, ChangeLog& log) {
  for (NodeId id = graph.last_node(); id != kNone;) {
    const NodeId previous = graph.previous_node(id);
    const std::vector<NodeId> gone = remove_if_dead(graph, id);
    if (!gone.empty()) {
      Patch::Change change;
      change.label = "remove_unused";
      change.reason = "no output depends on it";
      change.root = graph.node(id).name;
      for (NodeId n : gone) change.removed.push_back(node_text(graph.node(n)));
      change.gone = gone;
      log.changes.push_back(std::move(change));
    } else {
      for (const auto& body : graph.node(id).bodies) remove_unused_nodes(*body, log);
      graph.drop_unread_captures(id);
    }
    // The node before may be gone as well.
    id = previous == kNone || graph.node(previous).is_placed() ? previous : graph.last_node();
  }
}

}  // namespace tenon
