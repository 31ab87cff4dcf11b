// What stands before an Attention whose mask comes as integers, or whose past lies in a larger buffer.
#include "ops/attention.h"
#include "ops/shape_checks.h"

namespace tenon {

namespace {

// The mask is [batch] ends of keys, [2 * batch] ends and starts, [3 * batch + 2] ends and what is not used here;
// or it tells for every key: [batch, keys], [batch, queries, keys], [batch, 1, longest, longest]. [batch, 1] and
// [1, 1] forbid nothing.
Status check_mask(const Shape& mask, const Dim& batch, const Dim& queries, const Dim& past, const Dim& keys) {
  bool fits = false;
  switch (mask.size()) {
    case 1:
      fits = !differ(mask[0], batch) || !differ(mask[0], batch * Dim(2)) || !differ(mask[0], batch * Dim(3) + Dim(2));
      break;
    case 2:
      fits = (!differ(mask[0], batch) && !differ(mask[1], keys)) ||
             ((!differ(mask[0], batch) || !differ(mask[0], Dim(1))) && !differ(mask[1], Dim(1)));
      break;
    case 3:
      fits = !differ(mask, {batch, queries, keys});
      break;
    case 4: {
      const Dim needed = max(keys, past + queries);
      fits = !differ(mask, {batch, Dim(1), mask[3], mask[2]}) &&
             !(mask[2].is_constant() && needed.is_constant() && mask[2].value() < needed.value());
      break;
    }
    default:
      break;
  }
  if (fits) return {};
  return invalid_model("a mask of shape {} does not match {} sequences of {} queries and {} keys", shape_text(mask),
                       batch.to_string(), queries.to_string(), keys.to_string());
}

Status check_bias(const Shape& bias, const Dim& batch, const Dim& queries, const Dim& keys) {
  const bool fits = bias.size() == 4 && (!differ(bias[0], batch) || !differ(bias[0], Dim(1))) &&
                    !differ(bias[2], queries) && !differ(bias[3], keys);
  if (fits) return {};
  return invalid_model("an attention_bias of shape {} does not match {} sequences of {} queries and {} keys",
                       shape_text(bias), batch.to_string(), queries.to_string(), keys.to_string());
}

// Inputs: query [batch, queries, features], key, past key, mask, attention_bias.
Status infer_attention_bias(InferContext& c) {
  for (size_t i : {0, 1, 2, 4}) TN_RETURN_IF_ERROR(c.expect_tensor(i, kFloats));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 4));
  TN_RETURN_IF_ERROR(c.expect_tensor(3, kIndex));
  TN_RETURN_IF_ERROR(c.expect_rank(0, 3));
  TN_RETURN_IF_ERROR(c.expect_rank(2, 4));
  if (!c.has(3)) return invalid_model("the mask is missing");
  const Shape *q = c.shape(0), *k = c.shape(1), *mask = c.shape(3), *bias = c.shape(4);
  if (k && k->size() != 3 && k->size() != 4)
    return invalid_model("the key must have rank 3 or 4, but it has {}", k->size());
  if (!q || !k || !mask || (c.has(2) && !c.shape(2)) || (c.has(4) && !bias)) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  const Dim past = c.has(2) ? (*c.shape(2))[2] : Dim(0), keys = past + (*k)[k->size() - 2];
  TN_RETURN_IF_ERROR(check_mask(*mask, (*q)[0], (*q)[1], past, keys));
  if (bias) TN_RETURN_IF_ERROR(check_bias(*bias, (*q)[0], (*q)[1], keys));
  const bool by_query = bias || mask->size() > 2;
  c.out(0, c.dtype(0), Shape{(*q)[0], bias ? (*bias)[1] : Dim(1), by_query ? (*q)[1] : Dim(1), keys});
  return {};
}

// Inputs: cache [batch, heads, capacity, size], of which so many positions (input 2) are in use, what comes next
// [batch, length, heads * size] or [batch, heads, length, size], and for beams who wrote each position
// [batch / beams, beams, capacity]. Outputs: the positions in use, as each beam sees them, and the new cache.
Status infer_key_value_cache(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 1));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, kIndex));
  TN_RETURN_IF_ERROR(c.expect_tensor(3, kIndex));
  TN_RETURN_IF_ERROR(c.expect_rank(0, 4));
  TN_RETURN_IF_ERROR(c.expect_rank(3, 3));
  if (const Shape* s = c.shape(2); s && differ(element_count(*s), Dim(1)))
    return invalid_model("past_sequence_length must be one number, but its shape is {}", shape_text(*s));
  c.out(1, c.in(0));
  if (!c.shape(0) || !c.shape(1)) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  const Shape &cache = *c.shape(0), &next = *c.shape(1);
  const bool packed = next.size() == 3;
  const Shape expected = packed ? Shape{cache[0], next[1], cache[1] * cache[3]}
                                : Shape{cache[0], cache[1], next.size() == 4 ? next[2] : Dim(0), cache[3]};
  if (differ(next, expected))
    return invalid_model("a key or value of shape {} does not match the cache {}", shape_text(next), shape_text(cache));
  if (const Shape* beams = c.shape(3);
      beams && (differ((*beams)[0] * (*beams)[1], cache[0]) || differ((*beams)[2], cache[2])))
    return invalid_model("cache_indirection of shape {} does not match the cache {}", shape_text(*beams),
                         shape_text(cache));
  const auto values = c.values(2);
  const Dim used = values && values->size() == 1 ? (*values)[0] : c.fresh_symbol();
  const Dim after = used + next[packed ? 1 : 2];
  if ((used.is_constant() && used.value() < 0) ||
      (after.is_constant() && cache[2].is_constant() && after.value() > cache[2].value()))
    return invalid_argument("past_sequence_length is {}; together with {} new positions it exceeds the capacity {}",
                            used.to_string(), next[packed ? 1 : 2].to_string(), cache[2].to_string());
  c.out(0, c.dtype(0), Shape{cache[0], cache[1], used, cache[3]});
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::AttentionBias>() {
  return define<AttentionBiasParams>({.inputs = {2, 5}, .outputs = {1, 1}, .infer = infer_attention_bias});
}

template <>
OpDef op_definition<OpId::KeyValueCache>() {
  return define<NoParams>({.inputs = {3, 4}, .outputs = {1, 2}, .infer = infer_key_value_cache});
}

}  // namespace tenon
