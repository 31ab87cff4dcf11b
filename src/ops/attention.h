#pragma once

#include "ops/infer.h"

namespace tenon {

struct AttentionParams {
  bool is_causal = false;
  std::optional<int64_t> q_num_heads, kv_num_heads;  // of 3-D inputs
  std::optional<float> scale;
  std::optional<DType> softmax_precision;
  float softcap = 0.0f;
  int64_t qk_matmul_output_mode = 0;                      // 0 product, 1 after softcap, 2 with bias, 3 probabilities
  int64_t left_window_size = -1, right_window_size = -1;  // -1: unbounded
  bool whole_mask = false;                                // the mask must cover every key; else the rest is masked out
  // The score of keys that a mask of bools hides; without it they are taken out. With it the result is what a Softmax
  // of the scores gives: NaN where all of them are -infinity, and not 0; and a mask of one key holds for all keys.
  std::optional<float> hidden_score;
  void fields(FieldVisitor& v) {
    v.field("is_causal", is_causal);
    v.field("q_num_heads", q_num_heads);
    v.field("kv_num_heads", kv_num_heads);
    v.field("scale", scale);
    v.field("softmax_precision", softmax_precision);
    v.field("softcap", softcap);
    v.field("qk_matmul_output_mode", qk_matmul_output_mode);
    v.field("left_window_size", left_window_size);
    v.field("right_window_size", right_window_size);
    v.field("whole_mask", whole_mask);
    v.field("hidden_score", hidden_score);
  }
};

// Q, K and V seen as [batch, heads, sequence, head size].
struct AttentionSizes {
  Dim batch, q_heads, kv_heads, q_length, kv_length, past_length, head, value_head;
  bool packed = false;     // Q and the result are 3-D: [batch, sequence, heads * head size]
  bool kv_packed = false;  // so are K and V; they may be 4-D when Q is not
  Dim total_length() const { return past_length + kv_length; }
};

// The sizes that the inputs of an Attention agree on, or the first contradiction. Needs known ranks.
Result<AttentionSizes> attention_sizes(const AttentionParams& params, const Shape& q, const Shape& k, const Shape& v,
                                       const Shape* past_key, const Shape* past_value);

struct FlexAttentionParams {
  std::optional<float> scale;
  std::optional<DType> softmax_precision;
  bool has_score_mod = false, has_prob_mod = false;  // which sub-graphs there are, in this order
  void fields(FieldVisitor& v) {
    v.field("scale", scale);
    v.field("softmax_precision", softmax_precision);
    v.field("has_score_mod", has_score_mod);
    v.field("has_prob_mod", has_prob_mod);
  }
  size_t body_count() const { return size_t{has_score_mod} + size_t{has_prob_mod}; }
  // The element type of scores and probabilities.
  DType precision(DType input) const {
    return softmax_precision.value_or(input == DType::Float64 ? DType::Float64 : DType::Float32);
  }
};

// What is added to the scores of an Attention when its mask comes as integers.
struct AttentionBiasParams {
  float mask_filter_value = -10000.0f;  // added where the mask forbids
  void fields(FieldVisitor& v) { v.field("mask_filter_value", mask_filter_value); }
};

struct LinearAttentionParams {
  int64_t q_num_heads = 0, kv_num_heads = 0;
  float scale = 0.0f;  // 0: 1 / sqrt(head size)
  std::string update_rule = "gated_delta";
  int64_t chunk_size = 64;   // a hint for other engines
  int64_t state_window = 0;  // more than 0: states carry a leading axis for the last steps
  void fields(FieldVisitor& v) {
    v.field("q_num_heads", q_num_heads);
    v.field("kv_num_heads", kv_num_heads);
    v.field("scale", scale);
    v.field("update_rule", update_rule);
    v.field("chunk_size", chunk_size);
    v.field("state_window", state_window);
  }
  bool gated() const { return update_rule == "gated" || update_rule == "gated_delta"; }
  bool corrects() const { return update_rule == "delta" || update_rule == "gated_delta"; }
};

}  // namespace tenon
