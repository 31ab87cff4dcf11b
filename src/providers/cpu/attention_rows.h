#pragma once

#include "providers/provider.h"

namespace tenon {

// Loops of attention over the scores of one query.
struct AttentionRowFunctions {
  // scores[j] = query * key j, each key `stride` after the one before.
  void (*products)(const float* query, const float* keys, int64_t stride, int64_t depth, float* scores, int64_t count);
  // scores = cap * tanh(scores / cap)
  void (*cap)(float* scores, float cap, int64_t count);
  void (*add)(float* scores, const float* mask, int64_t count);
};
const AttentionRowFunctions& attention_row_functions(Isa isa);

}  // namespace tenon
