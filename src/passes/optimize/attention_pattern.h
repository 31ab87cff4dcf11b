#pragma once

#include <array>

#include "passes/optimize/causal_mask.h"
#include "passes/optimize/pattern.h"

// Attention as exporters write it: softmax(scale * Q K' + mask) V.
namespace tenon {

// From heads [batch, heads, length, size]; the keys come transposed.
struct AttentionCore {
  AttentionCore(const Pattern& query, const Pattern& turned_keys, const Pattern& values,
                const Pattern& factor_of_scores = Pattern::scalar());

  Pattern mask = Pattern::any();  // what is added to the scores
  Pattern condition = Pattern::any(), low = Pattern::scalar();
  // Numbers that scores, queries and keys are multiplied with, or divided by.
  std::array<Pattern, 3> factors;
  std::array<Pattern, 3> divided;
  Pattern sum = Pattern::any();
  Pattern kept = Pattern::any(), hidden = Pattern::any();  // a Where, the condition for keeping and for hiding a score
  Pattern softmax = Pattern::any(), whole = Pattern::any();
};

// The product of all factors; nothing when one of them is not known.
std::optional<double> scale_of(Graph& graph, const AttentionCore& core, const Match& m, std::string_view asker);

// Whether the Softmax is over the keys.
bool is_along_keys(const AttentionCore& core, const Match& m);

// Whether scores are masked at all.
bool is_masked(const AttentionCore& core, const Match& m);
// What is known of the mask; without one, that it hides nothing.
MaskFact mask_fact(Graph& graph, const AttentionCore& core, const Match& m, const ScoreExtents& extents,
                   std::string_view asker);
// What is added to the scores; kNone: the number that hides them is not known to leave nothing of them.
ValueId mask_of(Patch& patch, const AttentionCore& core, const Match& m, std::string_view asker);
// What is added to the scores [batch, heads, queries, keys], repeated for every query as other engines want it, and on
// demand with all four axes; kNone: it is not known to fit.
ValueId mask_for(Patch& patch, ValueId mask, const Shape& scores, bool with_all_axes);

}  // namespace tenon
