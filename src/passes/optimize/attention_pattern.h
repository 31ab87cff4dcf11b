#pragma once

#include <array>

#include "passes/optimize/pattern.h"

// Attention as exporters write it: softmax(scale * Q K' + mask) V.
namespace tenon {

// From heads [batch, heads, length, size]; the keys come transposed.
struct AttentionCore {
  AttentionCore(const Pattern& query, const Pattern& turned_keys, const Pattern& values);

  Pattern mask = Pattern::any();
  // Numbers that scores, queries and keys are multiplied with, or divided by.
  std::array<Pattern, 3> factors{Pattern::scalar(), Pattern::scalar(), Pattern::scalar()};
  std::array<Pattern, 3> divided;
  Pattern sum, softmax, whole;
};

// The product of all factors; nothing when one of them is not known.
std::optional<double> scale_of(Graph& graph, const AttentionCore& core, const Match& m, std::string_view asker);

// What is added to the scores [batch, heads, queries, keys], repeated for every query as other engines want it; kNone:
// it is not known to fit.
ValueId mask_for(Patch& patch, ValueId mask, const Shape& scores);

}  // namespace tenon
