#pragma once

#include "ir/graph.h"

namespace tenon {

// What a node adds to the distance between two correct ways of computing it.
struct OpRounding {
  double roundings = 0;  // results that are rounded on the way
  double terms = 0;      // of the sums behind one element
  int quantizations = 0;

  void add(const OpRounding& other) {
    roundings += other.roundings;
    terms += other.terms;
    quantizations += other.quantizations;
  }
};

// By the family of the op: values that are moved or compared stay what they are, a formula rounds a few times, a sum as
// often as it has terms, and quantizing may end one step beside.
OpRounding rounding_of(const Graph& graph, const GraphNode& node);

}  // namespace tenon
