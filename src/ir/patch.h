#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"

namespace tenon {

// A replacement of some nodes by others, first made and then applied whole. Its nodes are in no order of the graph and
// count as no use until it is applied; a patch that is dropped leaves the graph as it was. What dies follows from who
// still reads it: a rule cannot take away what another node, a body or an output needs.
//
// One patch of a graph is made at a time.
class Patch final : public Builder {
 public:
  // The nodes go before `root`, which is one of those that are replaced.
  Patch(Graph& graph, NodeId root, std::string_view label);
  ~Patch();
  Patch(const Patch&) = delete;
  Patch& operator=(const Patch&) = delete;

  NodeId root() const { return root_; }
  const std::string& label() const { return label_; }
  const std::string& reason() const { return reason_; }
  void set_reason(std::string reason) { reason_ = std::move(reason); }

  // The node that makes `made` takes the id of `old`: name, readers, captures and outputs stay where they are.
  void redefine(ValueId old, ValueId made) { redefined_.emplace_back(old, made); }
  // All readers of `old` read `existing` from now on.
  void forward(ValueId old, ValueId existing) { forwarded_.emplace_back(old, existing); }
  // New nodes are what one ONNX node stands for, which they are written as while nothing touches them.
  void add_group(Group group) { groups_.push_back(std::move(group)); }

  // The new nodes that the results are computed from, in the order in which they were made.
  std::vector<NodeId> new_nodes() const;
  // The nodes of the graph that nothing reads any more once the patch is applied.
  std::vector<NodeId> dying_nodes() const;
  const std::vector<std::pair<ValueId, ValueId>>& redefined() const { return redefined_; }
  const std::vector<std::pair<ValueId, ValueId>>& forwarded() const { return forwarded_; }

  const std::vector<Group>& groups() const { return groups_; }
  // The index of the group that a new node belongs to; nothing: it is written by itself.
  std::optional<size_t> group_of(NodeId id) const;

  bool is_new(NodeId id) const { return id.index() >= first_node_; }
  bool is_new(ValueId v) const { return v.index() >= first_value_; }

  // What applying did.
  struct Change {
    std::string label, reason, root;
    std::vector<std::string> removed;  // "Conv 'stem/conv'"
    std::vector<std::string> added;    // "PackedConv"
    std::vector<NodeId> gone;
    std::vector<std::string> gone_names;
    std::vector<NodeId> made;        // that are in the graph now
    std::vector<ValueId> redefined;  // what reads them may match other rules now
    int64_t bytes = 0;               // that the elements of constants take which are read now, and were not before
  };
  // Why the graph would not be right, or not the same to its users, with this patch; nothing: it can be applied.
  std::optional<std::string> refusal() const;
  // Puts the new nodes in place, takes the ones away that nobody needs any more, and infers what changed. A patch that
  // is refused changes nothing. An error of inference is a mistake of the rule; the graph is of no use after it.
  Result<Change> apply();

 private:
  void place(NodeId id) override { made_.push_back(id); }
  void place_groups(const std::vector<NodeId>& nodes);
  void note_provenance(const Change& change);
  std::set<ValueId> unread_constants(const std::vector<NodeId>& nodes) const;
  std::optional<std::string> forward_refusal(ValueId old, ValueId existing) const;
  NodeId first_reader() const;
  NodeId place_of_nodes() const;
  std::optional<std::vector<NodeId>> late_operands(const std::vector<NodeId>& nodes, NodeId before) const;

  NodeId root_;
  std::string label_, reason_;
  size_t first_node_, first_value_;
  std::vector<NodeId> made_;
  std::vector<std::pair<ValueId, ValueId>> redefined_, forwarded_;
  std::vector<Group> groups_;
  bool applied_ = false;
};

// "Conv 'stem/conv'".
std::string node_text(const GraphNode& node);

// Takes away a node without readers, and then what only it needed. Returns what went.
std::vector<NodeId> remove_if_dead(Graph& graph, NodeId node);

}  // namespace tenon
