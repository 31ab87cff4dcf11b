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
    rules.keys_in_mask_ = rules.mask_.dims.back();
    const auto strides =
        broadcast_strides(rules.mask_.dims, std::vector{e.batch, e.q_heads, e.q_length, rules.keys_in_mask_});
    rules.strides_ = {strides[0], strides[1], strides[2]};
  }
  if (!c.has(6)) return rules;
  rules.valid_keys_ = c.in(6).as<int64_t>();
  TN_RETURN_IF_ERROR(check_valid_keys(rules.valid_keys_, e.total));
  return rules;
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

const float* ScoreRules::mask_row(ScorePlace place, KeyRange keys, float* memory) const {
  if (mask_.dtype == DType::Undefined) return nullptr;
  const int64_t at =
      place.batch * strides_[0] + place.head * strides_[1] + place.query * strides_[2] + keys.begin;
  if (mask_.dtype == DType::Float32) return static_cast<const float*>(mask_.data) + at;
  const bool* allowed = static_cast<const bool*>(mask_.data) + at;
  for (int64_t i = 0; i < keys.size(); ++i) memory[i] = allowed[i] ? 0 : -HUGE_VALF;
  return memory;
}

float ScoreRules::weigh(const ScoreFunctions& f, float* scores, KeyRange visible, KeyRange block, ScorePlace place,
                        float* mask, float& largest, float& total) const {
  const KeyRange seen{std::max(visible.begin, block.begin), std::min(visible.end, block.end)};
  if (seen.size() <= 0) {
    std::fill_n(scores, block.size(), 0.0f);
    return 1;
  }
  float* first = scores + (seen.begin - block.begin);
  std::fill(scores, first, 0.0f);
  std::fill(first + seen.size(), scores + block.size(), 0.0f);
  if (params_->softcap > 0) f.scores->cap(first, params_->softcap, seen.size());
  if (const float* added = mask_row(place, seen, mask)) f.scores->add(first, added, seen.size());
  const float of_block = f.rows->reduce(Accumulation::Largest, first, seen.size());
  if (of_block == -HUGE_VALF) {
    std::fill_n(first, seen.size(), 0.0f);
    return 1;
  }
  // NaN stays the largest.
  const float before = largest;
  if (!(of_block <= largest)) largest = of_block;
  const float sum = f.rows->exponentials(first, largest, first, seen.size());
  const float factor = before == largest || before == -HUGE_VALF ? 1 : std::exp(before - largest);
  total = total * factor + sum;
  return factor;
}

}  // namespace tenon
