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

// What the op's definition says (OpDef::rounding), and the nodes of its bodies.
OpRounding rounding_of(const Graph& graph, const GraphNode& node);

}  // namespace tenon
