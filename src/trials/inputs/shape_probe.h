#pragma once

#include <map>
#include <optional>
#include <string>

#include "ir/graph.h"

namespace tenon {

// How far a graph goes along with extents for the symbols of its inputs.
struct ProbeResult {
  size_t accepted = 0;   // nodes, in order, whose rules accept what they get
  size_t empty = 0;      // values that have no elements
  size_t stretched = 0;  // open extents of 1 that a weight stretches: of one patch of an image, say
  bool refused = false;
  size_t inside = 0;              // nodes that the better branch of the If which refuses accepts
  std::optional<NodeId> trouble;  // the node that refuses, or the first that is no good

  bool is_better_than(const ProbeResult& other) const {
    if (accepted != other.accepted) return accepted > other.accepted;
    if (inside != other.inside) return inside > other.inside;
    return empty != other.empty ? empty < other.empty : stretched < other.stretched;
  }
  bool is_good() const { return !refused && empty == 0 && stretched == 0; }
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
