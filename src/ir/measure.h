#pragma once

#include <compare>
#include <cstdint>

#include "ir/patch.h"

namespace tenon {

// How much there is to a graph, most important first. A patch of the normal form must lower it: so rewriting ends, and
// no two rules can undo each other for ever.
struct Measure {
  int64_t work = 0;       // weights of the nodes that every run computes, those of bodies too
  int64_t written = 0;    // ONNX nodes that the graph is written as
  int64_t folding = 0;    // nodes that depend on constants alone
  int64_t operands = 0;   // inputs that nodes read
  int64_t constants = 0;  // that are read
  int64_t shapes = 0;     // of values that are computed, which keep these alive

  Measure& operator+=(const Measure& other);
  Measure& operator-=(const Measure& other);
  friend auto operator<=>(const Measure&, const Measure&) = default;
};

Measure measure_of(const Graph& graph, const GraphNode& node);
// What applying the patch would change. Below zero: there is less than before.
Measure change_by(const Patch& patch);

}  // namespace tenon
