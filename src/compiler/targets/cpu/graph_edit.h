#pragma once

#include <vector>

#include "compiler/weight_side.h"

namespace tenon {

// Replaces nodes of a graph by others. What the new ones compute keeps the value ids of the old ones, so nothing else
// changes.
class GraphEdit {
 public:
  explicit GraphEdit(Graph& graph);

  const Graph& graph() const { return graph_; }
  const GraphNode& node(NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }
  const Type& type(ValueId v) const { return graph_.value(v).type; }
  // The dims of a float tensor that depends on constants alone; null for all other values.
  const Shape* weight_shape(ValueId v) const;
  // The node that computes v, or kNone.
  NodeId producer(ValueId v) const { return producer_[static_cast<size_t>(v)]; }
  // The one node that reads v, or kNone when several do, a body does, or v leaves the graph.
  NodeId only_reader(ValueId v) const;
  // The tensor of a small constant; the plan depends on it from now on.
  const Tensor* ask(ValueId v, std::string_view asker) { return graph_.ask(v, asker); }

  // New nodes go before the one at `place`, until another place is named.
  void go_to(NodeId place) { place_ = place; }
  // `attribute`: the one of the node that the constant stands for, if any.
  ValueId constant(Tensor tensor, std::string_view attribute = {});
  ValueId add_value(Type type) { return graph_.add_value("", std::move(type)); }
  // A node with a result of its own. Without params it has the defaults of its op.
  ValueId emit(OpId op, Params params, std::vector<ValueId> inputs);
  // The same, in the name of a node that is not at the place.
  ValueId emit(OpId op, Params params, std::vector<ValueId> inputs, std::string name);
  // A node that computes values which are there already.
  void emit_into(OpId op, Params params, std::vector<ValueId> inputs, std::vector<ValueId> outputs, std::string name);
  void remove(NodeId id) { removed_[static_cast<size_t>(id)] = true; }
  bool is_removed(NodeId id) const { return removed_[static_cast<size_t>(id)]; }

  // Puts the new nodes in place.
  Status finish();

 private:
  Graph& graph_;
  WeightSide side_;
  std::vector<NodeId> producer_, reader_;  // by value; kNone: nobody
  std::vector<int> uses_;                  // by value
  std::vector<std::vector<GraphNode>> before_;
  std::vector<bool> removed_;
  NodeId place_ = 0;
  Status status_;
};

// A copy with bodies and constants of its own.
Graph clone_graph(const Graph& graph);

}  // namespace tenon
