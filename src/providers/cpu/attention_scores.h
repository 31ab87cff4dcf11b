#pragma once

#include <limits>

#include "ops/attention.h"
#include "providers/cpu/attention_rows.h"
#include "providers/cpu/rows.h"
#include "providers/reference/attention.h"

namespace tenon {

// Keys whose scores are computed together.
inline constexpr int64_t kKeyBlock = 256;

struct KeyRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

struct ScoreFunctions {
  const RowFunctions* rows = nullptr;
  const AttentionRowFunctions* scores = nullptr;
};

struct ScorePlace {
  int64_t batch, head, query;
};

// Which keys each query sees, and what becomes of its scores before they are weights.
class ScoreRules {
 public:
  static Result<ScoreRules> of(KernelContext& c, const AttentionExtents& extents);

  // The keys between the padding, the causal frontier and the window. Both ends grow with the query.
  KeyRange visible(int64_t batch, int64_t query) const;

  // Caps and masks the scores of a block of keys. Returns the largest of those that are visible.
  float mask(const ScoreFunctions& f, float* scores, KeyRange block, ScorePlace place) const;

  // Makes weights of them: exponentials of what they are below the largest so far, whose sum is added to the total; 0
  // for keys that are not visible. Returns what everything summed before is to be multiplied with.
  float weigh(const ScoreFunctions& f, float* scores, KeyRange block, ScorePlace place, float of_block, float& largest,
              float& total) const;

  // What the weights are multiplied with in the end. A query that sees no key has no weights at all.
  float last_factor(float total) const {
    if (total != 0) return 1 / total;
    return params_->hidden_score && extents_->total > 0 ? std::numeric_limits<float>::quiet_NaN() : 0;
  }

 private:
  float mask_all(const ScoreFunctions& f, float* scores, int64_t count, int64_t at) const;
  // The keys of a block that a query sees.
  KeyRange seen(ScorePlace place, KeyRange block) const;

  const AttentionParams* params_ = nullptr;
  const AttentionExtents* extents_ = nullptr;
  TensorView mask_;
  std::vector<int64_t> strides_;  // of the mask, by batch, head, query and key
  int64_t keys_in_mask_ = 0;
  std::span<const int64_t> valid_keys_;
};

}  // namespace tenon
