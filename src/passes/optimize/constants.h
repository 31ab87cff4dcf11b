#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

// What rules read of constants. Each look is remembered, so weights that would answer otherwise are told apart.
namespace tenon {

// The elements of an integer operand that are all known.
std::optional<std::vector<int64_t>> known_integers(Graph& graph, ValueId v, std::string_view asker);
// The elements of an integer operand as far as they are known, in the symbols of shapes; nothing when they are not.
std::optional<std::vector<Dim>> known_dims(Graph& graph, ValueId v, std::string_view asker);
// Whether two operands are one value, or constants of the same elements.
bool is_same_constant(Graph& graph, ValueId a, ValueId b, std::string_view asker);
// How many elements a tensor of known shape has.
std::optional<int64_t> count_of(const Graph& graph, ValueId v);

}  // namespace tenon
