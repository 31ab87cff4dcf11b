#pragma once

#include "providers/provider.h"

namespace tenon {

// Loops of attention over the scores of one query. Those that change scores return the largest; it may miss NaN, which
// stays NaN in the weights.
struct AttentionRowFunctions {
  // scores[j] = query * key j, each key `stride` after the one before.
  void (*products)(const float* query, const float* keys, int64_t stride, int64_t depth, float* scores, int64_t count);
  float (*largest)(const float* scores, int64_t count);
  // scores = cap * tanh(scores / cap)
  void (*cap)(float* scores, float cap, int64_t count);
  float (*add)(float* scores, const float* mask, int64_t count);
  // Scores that are not allowed become `hidden`.
  float (*hide)(float* scores, const bool* allowed, float hidden, int64_t count);
  // scores = exp(scores - largest), where none is above the largest. Returns their sum.
  float (*weigh)(float* scores, float largest, int64_t count);
};
const AttentionRowFunctions& attention_row_functions(Isa isa);

}  // namespace tenon
