#pragma once

#include <map>
#include <optional>
#include <string>

#include "ir/graph.h"

namespace tenon {

// How far a graph goes along with extents for the symbols of its inputs.
struct ProbeResult {
  size_t accepted = 0;  // nodes, in order, whose rules accept what they get
  size_t empty = 0;     // values that have no elements
  bool refused = false;
  size_t inside = 0;              // nodes that the better branch of the If which refuses accepts
  std::optional<NodeId> trouble;  // the node that refuses, or the first that makes an empty value

  bool is_better_than(const ProbeResult& other) const {
    if (accepted != other.accepted) return accepted > other.accepted;
    return inside != other.inside ? inside > other.inside : empty < other.empty;
  }
};

// Runs the shape rules of a graph's nodes for concrete extents, without kernels, weights or changes to the graph.
class ShapeProbe {
 public:
  explicit ShapeProbe(const Graph& graph) : graph_(graph) {}

  // Types of inputs, with the symbols `extents` decides put in.
  ProbeResult probe(const std::map<std::string, int64_t>& extents);
  // Rules run so far.
  int64_t rules_run() const { return rules_run_; }

 private:
  const Graph& graph_;
  int64_t rules_run_ = 0;
};

}  // namespace tenon
