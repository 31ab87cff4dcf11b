#pragma once

#include <string_view>

#include "ir/graph.h"

// What masks of attention let through, as far as their nodes prove it.
namespace tenon {

// Scores [.., queries, keys]. The queries are the last positions: query i stands at key i + keys - queries.
struct ScoreExtents {
  Dim queries, keys;
};

struct MaskFact {
  bool hides_future = false;  // no query sees a key behind its own position
  bool hides_past = true;     // it may not see all the others

  bool is_causal() const { return hides_future && !hides_past; }
};

// Of scores that are kept, or hidden, where a condition holds.
MaskFact fact_of_kept(Graph& graph, ValueId condition, const ScoreExtents& extents, std::string_view asker);
MaskFact fact_of_hidden(Graph& graph, ValueId condition, const ScoreExtents& extents, std::string_view asker);
// Of what is added to the scores.
MaskFact fact_of_summand(Graph& graph, ValueId summand, const ScoreExtents& extents, std::string_view asker);

// Adding this to a score of a sensible size, or writing it over the score, leaves nothing of it.
bool hides_score(double number);

}  // namespace tenon
