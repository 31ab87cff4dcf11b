#pragma once

#include "ops/infer.h"

namespace tenon {

struct GroupQueryAttentionParams {
  int64_t num_heads = 0, kv_num_heads = 0;
  float scale = 0.0f;  // 0: 1 / sqrt(head size)
  float softcap = 0.0f;
  bool causal = true;
  bool do_rotary = false, rotary_interleaved = false;
  bool smooth_softmax = false;
  int64_t local_window_size = -1;  // keys that a query sees; -1: all before it
  int64_t qk_output = 0;           // 1: scores, 2: probabilities
  std::string k_quant_type = "NONE", v_quant_type = "NONE";
  int64_t kv_cache_bit_width = 0;     // of a quantized cache: 4 or 8
  bool sliding_window_cache = false;  // the cache keeps the last positions only
  float qk_norm_epsilon = 1e-6f;
  void fields(FieldVisitor& v) {
    v.field("num_heads", num_heads);
    v.field("kv_num_heads", kv_num_heads);
    v.field("scale", scale);
    v.field("softcap", softcap);
    v.field("causal", causal);
    v.field("do_rotary", do_rotary);
    v.field("rotary_interleaved", rotary_interleaved);
    v.field("smooth_softmax", smooth_softmax);
    v.field("local_window_size", local_window_size);
    v.field("qk_output", qk_output);
    v.field("k_quant_type", k_quant_type);
    v.field("v_quant_type", v_quant_type);
    v.field("kv_cache_bit_width", kv_cache_bit_width);
    v.field("sliding_window_cache", sliding_window_cache);
    v.field("qk_norm_epsilon", qk_norm_epsilon);
  }
  bool quantized() const { return k_quant_type != "NONE"; }
  bool per_channel() const { return k_quant_type == "PER_CHANNEL"; }
};

// The inputs, in their order.
enum GroupQueryAttentionInput : size_t {
  kGqaQuery,  // [batch, length, heads * head], or packed: followed by key and value in the last axis
  kGqaKey,
  kGqaValue,
  kGqaPastKey,  // [batch, kv heads, capacity, head], two features per byte when quantized to 4 bits
  kGqaPastValue,
  kGqaSeqlens,  // [batch]: positions after this step, less one
  kGqaTotal,    // the longest of them
  kGqaCosines,  // [positions, angles]
  kGqaSines,
  kGqaPositions,  // [batch, length]
  kGqaBias,       // [batch or 1, heads or 1, length, total]
  kGqaSink,       // [heads]
  kGqaKeyScale,
  kGqaValueScale,
  kGqaQueryNorm,  // [head]
  kGqaKeyNorm,
  kGqaInputs,
};

struct GroupQueryAttentionSizes {
  Dim batch, length, new_keys, head, cached_head, past_capacity;
};
// What query, key and past agree on; each needs a known rank. A null key: the query is packed.
Result<GroupQueryAttentionSizes> group_query_attention_sizes(const GroupQueryAttentionParams& params,
                                                             const Shape& query, const Shape* key, const Shape* past);

}  // namespace tenon
