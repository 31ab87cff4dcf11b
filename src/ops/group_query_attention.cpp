#include "ops/group_query_attention.h"

#include "ops/shape_checks.h"

namespace tenon {

Result<GroupQueryAttentionSizes> group_query_attention_sizes(const GroupQueryAttentionParams& p, const Shape& query,
                                                             const Shape* key, const Shape* past) {
  if (query.size() != 3 || (key && key->size() != 3))
    return invalid_model("query and key must have rank 3, but they have {} and {}", query.size(),
                         key ? key->size() : 3);
  GroupQueryAttentionSizes s;
  s.batch = query[0];
  s.length = query[1];
  s.new_keys = key ? (*key)[1] : query[1];
  const Dim heads = Dim(p.num_heads) + (key ? Dim(0) : Dim(p.kv_num_heads) * Dim(2));
  if (heads.is_invalid()) return invalid_model("there are too many heads");
  s.head = floor_div(query[2], heads);
  if (query[2].is_constant() && query[2].value() % heads.value() != 0)
    return invalid_model("{} features cannot be divided evenly among {} heads", query[2].value(), heads.value());
  s.cached_head = p.kv_cache_bit_width == 4 ? ceil_div(s.head, Dim(2)) : s.head;
  s.past_capacity = past && past->size() == 4 ? (*past)[2] : Dim(0);
  return s;
}

namespace {

Status check_params(const GroupQueryAttentionParams& p) {
  if (p.num_heads < 1 || p.kv_num_heads < 1)
    return invalid_model("num_heads is {} and kv_num_heads is {}; both must be positive", p.num_heads, p.kv_num_heads);
  if (p.num_heads % p.kv_num_heads != 0)
    return invalid_model("the {} query heads are not a multiple of the {} key heads", p.num_heads, p.kv_num_heads);
  if (p.local_window_size < -1)
    return invalid_model("local_window_size is {}; it must be -1 or more", p.local_window_size);
  if (!p.causal && p.local_window_size != -1)
    return invalid_model("local_window_size is {}, but a window needs causal attention", p.local_window_size);
  if (p.qk_output < 0 || p.qk_output > 2) return invalid_model("qk_output is {}; it must be 0, 1 or 2", p.qk_output);
  if (p.k_quant_type != "NONE" && p.k_quant_type != "PER_TENSOR" && p.k_quant_type != "PER_CHANNEL")
    return invalid_model("k_quant_type is '{}'; it must be 'NONE', 'PER_TENSOR' or 'PER_CHANNEL'", p.k_quant_type);
  if (p.v_quant_type != p.k_quant_type)
    return invalid_model("k_quant_type is '{}' and v_quant_type is '{}'; they must be the same", p.k_quant_type,
                         p.v_quant_type);
  const bool width_fits =
      p.quantized() ? p.kv_cache_bit_width == 4 || p.kv_cache_bit_width == 8 : p.kv_cache_bit_width == 0;
  if (!width_fits)
    return invalid_model("kv_cache_bit_width is {}; it must be {}", p.kv_cache_bit_width,
                         p.quantized() ? "4 or 8" : "0 for a cache that is not quantized");
  if (p.sliding_window_cache && p.local_window_size < 1)
    return invalid_model("sliding_window_cache needs a positive local_window_size");
  return {};
}

// Of the cache: the query's type, or for codes what their width allows.
Result<DType> cache_type(InferContext& c, const GroupQueryAttentionParams& p) {
  const DType past = c.dtype(kGqaPastKey);
  if (!p.quantized()) {
    TN_RETURN_IF_ERROR(c.expect_same_dtype(kGqaQuery, kGqaPastKey));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(kGqaQuery, kGqaPastValue));
    return c.dtype(kGqaQuery);
  }
  const TypeSet codes = p.kv_cache_bit_width == 4 ? TypeSet{DType::UInt8} : TypeSet{DType::Int8, DType::Float8E4M3FN};
  TN_RETURN_IF_ERROR(c.expect_tensor(kGqaPastKey, codes));
  TN_RETURN_IF_ERROR(c.expect_tensor(kGqaPastValue, codes));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(kGqaPastKey, kGqaPastValue));
  if (past != DType::Undefined) return past;
  return p.kv_cache_bit_width == 4 ? DType::UInt8 : DType::Int8;
}

Status check_presence(InferContext& c, const GroupQueryAttentionParams& p) {
  const auto together = [&](size_t a, size_t b, const char* names) -> Status {
    if (c.has(a) == c.has(b)) return {};
    return invalid_model("{} must be given together", names);
  };
  TN_RETURN_IF_ERROR(together(kGqaKey, kGqaValue, "key and value"));
  TN_RETURN_IF_ERROR(together(kGqaPastKey, kGqaPastValue, "past_key and past_value"));
  TN_RETURN_IF_ERROR(together(kGqaCosines, kGqaSines, "cos_cache and sin_cache"));
  TN_RETURN_IF_ERROR(together(kGqaQueryNorm, kGqaKeyNorm, "q_norm_weight and k_norm_weight"));
  if (!c.has(kGqaSeqlens) || !c.has(kGqaTotal))
    return invalid_model("seqlens_k and total_sequence_length must be given");
  if (p.do_rotary && !c.has(kGqaCosines)) return invalid_model("do_rotary needs cos_cache and sin_cache");
  if (p.quantized() && (!c.has(kGqaKeyScale) || !c.has(kGqaValueScale)))
    return invalid_model("a quantized cache needs k_scale and v_scale");
  if (p.sliding_window_cache && !c.has(kGqaPastKey))
    return invalid_model("sliding_window_cache needs past_key and past_value");
  if (p.sliding_window_cache && c.has(kGqaBias))
    return unsupported("attention_bias with sliding_window_cache is not supported");
  if (p.sliding_window_cache && p.qk_output != 0)
    return unsupported("qk_output with sliding_window_cache is not supported");
  return {};
}

Status check_types(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(kGqaQuery, kFloats));
  for (size_t i : {kGqaKey, kGqaValue, kGqaCosines, kGqaSines, kGqaBias, kGqaSink, kGqaQueryNorm, kGqaKeyNorm})
    TN_RETURN_IF_ERROR(c.expect_same_dtype(kGqaQuery, i));
  TN_RETURN_IF_ERROR(c.expect_tensor(kGqaSeqlens, {DType::Int32}));
  TN_RETURN_IF_ERROR(c.expect_tensor(kGqaTotal, {DType::Int32}));
  TN_RETURN_IF_ERROR(c.expect_tensor(kGqaPositions, {DType::Int64}));
  TN_RETURN_IF_ERROR(c.expect_tensor(kGqaKeyScale, {DType::Float32}));
  return c.expect_tensor(kGqaValueScale, {DType::Float32});
}

Status check_cache_shapes(InferContext& c, const GroupQueryAttentionParams& p, const GroupQueryAttentionSizes& s) {
  const Shape cache{s.batch, Dim(p.kv_num_heads), s.past_capacity, s.cached_head};
  TN_RETURN_IF_ERROR(expect_shape(c, kGqaPastKey, "past_key", cache));
  TN_RETURN_IF_ERROR(expect_shape(c, kGqaPastValue, "past_value", cache));
  if (c.has(kGqaKey)) {
    const Shape rows{s.batch, s.new_keys, s.head * Dim(p.kv_num_heads)};
    TN_RETURN_IF_ERROR(expect_shape(c, kGqaKey, "key", rows));
    TN_RETURN_IF_ERROR(expect_shape(c, kGqaValue, "value", rows));
    const bool nothing_new = c.has(kGqaPastKey) && !p.sliding_window_cache && !differ(s.new_keys, Dim(0));
    if (differ(s.new_keys, s.length) && !nothing_new)
      return invalid_model(
          "there are {} queries and {} keys; their numbers may differ only if there are no keys and a past is given",
          s.length.to_string(), s.new_keys.to_string());
  }
  if (p.sliding_window_cache && s.past_capacity.is_constant() && s.past_capacity.value() < p.local_window_size)
    return invalid_model("a cache of {} positions cannot hold a window of {}", s.past_capacity.value(),
                         p.local_window_size);
  const Dim scales = p.per_channel() ? s.head * Dim(p.kv_num_heads) : Dim(1);
  for (size_t i : {kGqaKeyScale, kGqaValueScale})
    if (const Shape* scale = c.shape(i); scale && p.quantized() && differ(element_count(*scale), scales))
      return invalid_model("{} must have {} numbers, but its shape is {}", i == kGqaKeyScale ? "k_scale" : "v_scale",
                           scales.to_string(), shape_text(*scale));
  return {};
}

Status check_other_shapes(InferContext& c, const GroupQueryAttentionParams& p, const GroupQueryAttentionSizes& s) {
  if (const Shape* lengths = c.shape(kGqaSeqlens); lengths && differ(element_count(*lengths), s.batch))
    return invalid_model("seqlens_k must have {} numbers, but its shape is {}", s.batch.to_string(),
                         shape_text(*lengths));
  if (const Shape* total = c.shape(kGqaTotal); total && differ(element_count(*total), Dim(1)))
    return invalid_model("total_sequence_length must be one number, but its shape is {}", shape_text(*total));
  TN_RETURN_IF_ERROR(expect_shape(c, kGqaSink, "head_sink", {Dim(p.num_heads)}));
  TN_RETURN_IF_ERROR(expect_shape(c, kGqaQueryNorm, "q_norm_weight", {s.head}));
  TN_RETURN_IF_ERROR(expect_shape(c, kGqaKeyNorm, "k_norm_weight", {s.head}));
  TN_RETURN_IF_ERROR(c.expect_rank(kGqaCosines, 2));
  if (const Shape *cosines = c.shape(kGqaCosines), *sines = c.shape(kGqaSines); cosines && sines) {
    if (differ(*cosines, *sines)) return invalid_model("cos_cache and sin_cache have different shapes");
    const Dim rotated = (*cosines)[1] * Dim(2);
    if (rotated.is_constant() && s.head.is_constant() && rotated.value() > s.head.value())
      return invalid_model("cos_cache rotates {} features, but heads have only {}", rotated.value(), s.head.value());
  }
  TN_RETURN_IF_ERROR(c.expect_rank(kGqaPositions, 2));
  if (const Shape* ids = c.shape(kGqaPositions)) {
    const Dim &sequences = (*ids)[0], &tokens = (*ids)[1];
    if (differ(sequences, s.batch) ||
        (tokens.is_constant() && s.length.is_constant() && tokens.value() < s.length.value()))
      return invalid_model("position_ids of shape {} does not match {} sequences of {} positions", shape_text(*ids),
                           s.batch.to_string(), s.length.to_string());
  }
  return {};
}

Status check_bias(const Shape& bias, const GroupQueryAttentionParams& p, const GroupQueryAttentionSizes& s,
                  const Dim& total) {
  const Shape full{s.batch, Dim(p.num_heads), s.length, total};
  bool fits = bias.size() == 4;
  for (size_t i = 0; fits && i < 4; ++i) fits = !differ(bias[i], full[i]) || (i < 2 && bias[i].equals(1));
  if (fits) return {};
  return invalid_model("attention_bias has the shape {}, which does not broadcast to {}", shape_text(bias),
                       shape_text(full));
}

Status infer_group_query_attention(InferContext& c) {
  const auto& p = c.params<GroupQueryAttentionParams>();
  TN_RETURN_IF_ERROR(check_params(p));
  TN_RETURN_IF_ERROR(check_presence(c, p));
  TN_RETURN_IF_ERROR(check_types(c));
  TN_ASSIGN_OR_RETURN(const DType cached, cache_type(c, p));
  const DType dtype = c.dtype(kGqaQuery);
  if (!c.shape(kGqaQuery) || (c.has(kGqaKey) && !c.shape(kGqaKey)) || (c.has(kGqaPastKey) && !c.shape(kGqaPastKey))) {
    c.out(0, dtype, std::nullopt);
    c.out(1, cached, std::nullopt);
    c.out(2, cached, std::nullopt);
    c.out(3, dtype, std::nullopt);
    return {};
  }
  TN_RETURN_IF_ERROR(c.expect_rank(kGqaPastKey, 4));
  TN_ASSIGN_OR_RETURN(const auto s,
                      group_query_attention_sizes(p, *c.shape(kGqaQuery), c.shape(kGqaKey), c.shape(kGqaPastKey)));
  TN_RETURN_IF_ERROR(check_cache_shapes(c, p, s));
  TN_RETURN_IF_ERROR(check_other_shapes(c, p, s));
  c.out(0, dtype, Shape{s.batch, s.length, s.head * Dim(p.num_heads)});
  const auto values = c.values(kGqaTotal);
  const Dim total = values && values->size() == 1 ? (*values)[0] : c.fresh_symbol();
  if (total.is_constant() && total.value() < 1)
    return invalid_argument("total_sequence_length is {}; it must be positive", total.value());
  if (c.shape(kGqaBias)) TN_RETURN_IF_ERROR(check_bias(*c.shape(kGqaBias), p, s, total));
  const Dim capacity = p.sliding_window_cache ? s.past_capacity : max(total, s.past_capacity);
  const Shape present{s.batch, Dim(p.kv_num_heads), capacity, s.cached_head};
  c.out(1, cached, present);
  c.out(2, cached, present);
  c.out(3, dtype, Shape{s.batch, Dim(p.num_heads), s.length, total});
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::GroupQueryAttention>() {
  return define<GroupQueryAttentionParams>(
      {.inputs = {1, kGqaInputs}, .outputs = {1, 4}, .infer = infer_group_query_attention, .can_fail = true});
}

}  // namespace tenon
