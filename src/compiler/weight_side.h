#pragma once

#include <vector>

#include "ir/graph.h"

namespace tenon {

// The part of a graph that depends on its constants alone. What is on this side moves into the weight program, so that
// new weights go the same way as the ones the model came with.
class WeightSide {
 public:
  // Nodes move only when asked to; plain constants are always on this side.
  WeightSide(const Graph& graph, bool move_nodes);

  // True when a plan reads v from a slot. A value larger than the weights it comes from is computed in the plan
  // instead, unless it is packed for a kernel that wants it so. So is a value that can only be had through a much
  // larger one.
  bool becomes_slot(ValueId v) const { return slot_[v]; }

 private:
  void hold_results(const GraphNode& node);
  int64_t bytes(ValueId v) const;

  const Graph& graph_;
  Table<ValueId, bool> slot_;
  Table<ValueId, bool> too_large_;                  // or made of what is
  Table<ValueId, std::vector<ValueId>> constants_;  // what a value comes from, sorted
};

}  // namespace tenon
