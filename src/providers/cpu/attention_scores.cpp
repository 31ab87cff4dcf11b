#include "providers/cpu/attention_scores.h"

#include <algorithm>
#include <cmath>

#include "providers/reference/indexing.h"

namespace tenon {

Result<ScoreRules> ScoreRules::of(KernelContext& c, const AttentionExtents& e) {
  ScoreRules rules;
  rules.params_ = &c.params<AttentionParams>();
  rules.extents_ = &e;
  rules.keys_in_mask_ = e.total;
  if (c.has(3)) {
    rules.mask_ = c.in(3);
    rules.keys_in_mask_ = keys_in_mask(*rules.params_, rules.mask_, e);
    rules.strides_ =
        broadcast_strides(rules.mask_.dims, std::vector{e.batch, e.q_heads, e.q_length, rules.keys_in_mask_});
  }
  if (!c.has(6)) return rules;
  rules.valid_keys_ = c.in(6).as<int64_t>();
  TN_RETURN_IF_ERROR(check_valid_keys(rules.valid_keys_, e.total));
  return rules;
}

KeyRange ScoreRules::seen(ScorePlace place, KeyRange block) const {
  const KeyRange keys = visible(place.batch, place.query);
  const int64_t begin = std::clamp(keys.begin, block.begin, block.end);
  return {begin, std::clamp(keys.end, begin, block.end)};
}

KeyRange ScoreRules::visible(int64_t batch, int64_t query) const {
  const bool cached_outside = !valid_keys_.empty();
  const int64_t valid = cached_outside ? valid_keys_[static_cast<size_t>(batch)] : extents_->total;
  const int64_t position = query + (cached_outside ? valid - extents_->q_length : extents_->past);
  KeyRange keys{0, std::min(valid, keys_in_mask_)};
  if (params_->is_causal) keys.end = std::min(keys.end, position + 1);
  if (params_->right_window_size >= 0) keys.end = std::min(keys.end, position + params_->right_window_size + 1);
  if (params_->left_window_size >= 0) keys.begin = std::max(keys.begin, position - params_->left_window_size);
  return keys;
}

float ScoreRules::mask(const ScoreFunctions& f, float* scores, KeyRange block, ScorePlace place) const {
  const KeyRange keys = seen(place, block);
  if (keys.size() <= 0) return -HUGE_VALF;
  float* first = scores + (keys.begin - block.begin);
  if (params_->softcap > 0) f.scores->cap(first, params_->softcap, keys.size());
  if (mask_.dtype == DType::Undefined) return f.scores->largest(first, keys.size());
  const int64_t at =
      place.batch * strides_[0] + place.head * strides_[1] + place.query * strides_[2] + keys.begin * strides_[3];
  if (strides_[3] == 0) return mask_all(f, first, keys.size(), at);
  if (mask_.dtype == DType::Float32)
    return f.scores->add(first, static_cast<const float*>(mask_.data) + at, keys.size());
  const float hidden = params_->hidden_score.value_or(-HUGE_VALF);
  return f.scores->hide(first, static_cast<const bool*>(mask_.data) + at, hidden, keys.size());
}

// The same element of the mask for all keys.
float ScoreRules::mask_all(const ScoreFunctions& f, float* scores, int64_t count, int64_t at) const {
  if (mask_.dtype == DType::Float32)
    for (int64_t i = 0; i < count; ++i) scores[i] += static_cast<const float*>(mask_.data)[at];
  else if (!static_cast<const bool*>(mask_.data)[at])
    std::fill_n(scores, count, params_->hidden_score.value_or(-HUGE_VALF));
  return f.scores->largest(scores, count);
}

float ScoreRules::weigh(const ScoreFunctions& f, float* scores, KeyRange block, ScorePlace place, float of_block,
                        float& largest, float& total) const {
  const KeyRange keys = seen(place, block);
  float* first = scores + (keys.begin - block.begin);
  // Nothing but -infinity, or NaN.
  const bool is_nothing =
      of_block == -HUGE_VALF && std::none_of(first, first + keys.size(), [](float x) { return std::isnan(x); });
  if (is_nothing) {
    std::fill_n(scores, block.size(), 0.0f);
    return 1;
  }
  std::fill(scores, first, 0.0f);
  std::fill(first + keys.size(), scores + block.size(), 0.0f);
  const float before = largest;
  largest = std::max(largest, of_block);
  const float sum = f.scores->weigh(first, largest, keys.size());
  const float factor = before == largest || before == -HUGE_VALF ? 1 : std::exp(before - largest);
  total = total * factor + sum;
  return factor;
}

}  // namespace tenon
