#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

// Graphs as text, for tests of rules and for people.
//
//   %gamma: float[64] source "ln.weight"
//   %0: int64[1] = [-1]
//   graph (%x: float[batch, 64], %go: bool[]) {
//     %mean = ReduceMean(%x, %0) : float[batch, 1]
//     %y = If(%go)
//       graph { %a = Mul(%x, %gamma) return %a as "then" }
//       graph { return %x as "else" } : float[batch, 64]
//     return %y as "out"
//   }
//
// Constants come first and can be read in every graph; a body reads values of the graphs around it by their names. "_"
// is an absent input or a result that nobody wants, "//" begins a comment. Parameters are there when they differ from
// their defaults: Gather(%x, %i) {axis=1}.
namespace tenon {

// Values without a name of their own and symbols that nobody named are numbered in the order in which they stand.
std::string graph_text(const Graph& graph);
// Types of results are inferred; one that is written is compared with what inference says. graph_text of the result is
// the text again, when it was made by graph_text. Constants of more than 64 elements are shown by their hash, and
// cannot be read.
Result<Graph> parse_graph(std::string_view text);

}  // namespace tenon
