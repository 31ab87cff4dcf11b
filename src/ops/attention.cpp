#include "ops/attention.h"

#include "ops/shape_checks.h"

namespace tenon {

namespace {

// hidden / heads, which must come out even.
Result<Dim> head_size(const Dim& hidden, const Dim& heads, const char* what) {
  if (hidden.is_constant() && heads.is_constant() && hidden.value() % heads.value() != 0)
    return invalid_model("{} has {} features, which cannot be divided evenly among {} heads", what, hidden.value(),
                         heads.value());
  return floor_div(hidden, heads);
}

Status check_head_count(const char* name, const std::optional<int64_t>& attribute) {
  if (!attribute) return invalid_model("3-D inputs need the attribute '{}'", name);
  if (*attribute < 1) return invalid_model("'{}' is {}; it must be positive", name, *attribute);
  return {};
}

Status check_past(const AttentionSizes& s, const Shape* past, const Dim& head, const char* what) {
  if (!past) return {};
  if (!differ(*past, {s.batch, s.kv_heads, s.past_length, head})) return {};
  return invalid_model("{} must have the shape {}, but it has {}", what,
                       shape_text({s.batch, s.kv_heads, s.past_length, head}), shape_text(*past));
}

Status check_agreement(const AttentionSizes& s, const Shape& k, const Shape& v) {
  if (differ(k[0], s.batch) || differ(v[0], s.batch)) return invalid_model("Q, K and V have different batch extents");
  const size_t sequence = s.kv_packed ? 1 : 2;
  if (differ(v[sequence], s.kv_length)) return invalid_model("K and V have different sequence lengths");
  if (!s.kv_packed && differ(v[1], s.kv_heads)) return invalid_model("K and V have different numbers of heads");
  if (s.q_heads.is_constant() && s.kv_heads.is_constant() &&
      (s.kv_heads.value() == 0 ? s.q_heads.value() != 0 : s.q_heads.value() % s.kv_heads.value() != 0))
    return invalid_model("the {} query heads are not a multiple of the {} key heads", s.q_heads.value(),
                         s.kv_heads.value());
  return {};
}

}  // namespace

Result<AttentionSizes> attention_sizes(const AttentionParams& p, const Shape& q, const Shape& k, const Shape& v,
                                       const Shape* past_key, const Shape* past_value) {
  const bool same_rank = k.size() == q.size(), only_q_packed = q.size() == 3 && k.size() == 4;
  if ((q.size() != 3 && q.size() != 4) || k.size() != v.size() || !(same_rank || only_q_packed))
    return invalid_model("Q, K and V must all have rank 3 or 4, but they are {}, {} and {}", shape_text(q),
                         shape_text(k), shape_text(v));
  AttentionSizes s;
  s.packed = q.size() == 3;
  s.kv_packed = k.size() == 3;
  s.batch = q[0];
  Dim key_head;
  if (s.packed) {
    TN_RETURN_IF_ERROR(check_head_count("q_num_heads", p.q_num_heads));
    s.q_heads = Dim(*p.q_num_heads);
    TN_ASSIGN_OR_RETURN(s.head, head_size(q[2], s.q_heads, "Q"));
  } else {
    s.q_heads = q[1];
    s.head = q[3];
  }
  if (s.kv_packed) {
    TN_RETURN_IF_ERROR(check_head_count("kv_num_heads", p.kv_num_heads));
    s.kv_heads = Dim(*p.kv_num_heads);
    TN_ASSIGN_OR_RETURN(key_head, head_size(k[2], s.kv_heads, "K"));
    TN_ASSIGN_OR_RETURN(s.value_head, head_size(v[2], s.kv_heads, "V"));
  } else {
    s.kv_heads = k[1];
    key_head = k[3];
    s.value_head = v[3];
  }
  if ((p.q_num_heads && differ(Dim(*p.q_num_heads), s.q_heads)) ||
      (p.kv_num_heads && differ(Dim(*p.kv_num_heads), s.kv_heads)))
    return invalid_model("'q_num_heads' or 'kv_num_heads' does not match the 4-D inputs {} and {}", shape_text(q),
                         shape_text(k));
  s.q_length = q[s.packed ? 1 : 2];
  s.kv_length = k[s.kv_packed ? 1 : 2];
  s.past_length = past_key && past_key->size() == 4 ? (*past_key)[2] : Dim(0);
  if (differ(s.head, key_head))
    return invalid_model("the heads of Q have {} features, but those of K have {}", s.head.to_string(),
                         key_head.to_string());
  TN_RETURN_IF_ERROR(check_agreement(s, k, v));
  TN_RETURN_IF_ERROR(check_past(s, past_key, s.head, "past_key"));
  TN_RETURN_IF_ERROR(check_past(s, past_value, s.value_head, "past_value"));
  return s;
}

namespace {

Status check_params(const AttentionParams& p) {
  if (p.qk_matmul_output_mode < 0 || p.qk_matmul_output_mode > 3)
    return invalid_model("qk_matmul_output_mode is {}; it must be 0, 1, 2 or 3", p.qk_matmul_output_mode);
  if (p.left_window_size < -1 || p.right_window_size < -1)
    return invalid_model("window sizes must be -1 or more, but they are {} and {}", p.left_window_size,
                         p.right_window_size);
  if (p.softmax_precision && !kFloats.has(*p.softmax_precision))
    return invalid_model("softmax_precision must name a float type");
  if (p.scale && !(*p.scale >= 0)) return invalid_model("scale is {}; it must not be negative", *p.scale);
  return {};
}

Status check_attention_inputs(InferContext& c) {
  for (size_t i : {0, 1, 2, 4, 5}) TN_RETURN_IF_ERROR(c.expect_tensor(i, kFloats));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 1));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(1, 4));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(2, 5));
  TN_RETURN_IF_ERROR(c.expect_tensor(3, kNumbers | kBool));
  TN_RETURN_IF_ERROR(c.expect_tensor(6, {DType::Int64}));
  if (c.has(4) != c.has(5)) return invalid_model("past_key and past_value must be given together");
  if (c.has(6) && c.has(4)) return invalid_model("nonpad_kv_seqlen cannot be combined with past_key and past_value");
  return {};
}

// The mask broadcasts to [batch, heads, queries, keys]; unless it must be whole, its last axis may also be shorter than
// the keys.
Status check_mask(const Shape& mask, const AttentionSizes& s, const AttentionParams& p) {
  const Shape full{s.batch, s.q_heads, s.q_length, s.total_length()};
  bool fits = !mask.empty() && mask.size() <= 4;
  for (size_t i = 0; fits && i < mask.size(); ++i) {
    const Dim &have = mask[mask.size() - 1 - i], &want = full[3 - i];
    if (!have.is_constant() || !want.is_constant()) continue;
    const bool may_be_shorter = i == 0 && !p.whole_mask, may_be_one = (i > 0 || p.hidden_score) && have.equals(1);
    fits = may_be_shorter ? have.value() <= want.value() : may_be_one || have == want;
  }
  if (fits) return {};
  return invalid_model("attn_mask has the shape {}, which does not broadcast to {}", shape_text(mask),
                       shape_text(full));
}

Status infer_attention(InferContext& c) {
  const auto& p = c.params<AttentionParams>();
  TN_RETURN_IF_ERROR(check_params(p));
  TN_RETURN_IF_ERROR(check_attention_inputs(c));
  const DType key_type = c.dtype(0), value_type = c.dtype(2);
  if (!c.shape(0) || !c.shape(1) || !c.shape(2) || (c.has(4) && !c.shape(4))) {
    c.out(0, key_type, std::nullopt);
    c.out(1, key_type, std::nullopt);
    c.out(2, value_type, std::nullopt);
    c.out(3, key_type, std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(auto s, attention_sizes(p, *c.shape(0), *c.shape(1), *c.shape(2), c.shape(4), c.shape(5)));
  if (c.shape(3)) TN_RETURN_IF_ERROR(check_mask(*c.shape(3), s, p));
  if (const Shape* lengths = c.shape(6); lengths && (lengths->size() != 1 || differ((*lengths)[0], s.batch)))
    return invalid_model("nonpad_kv_seqlen must have the shape [{}], but it has {}", s.batch.to_string(),
                         shape_text(*lengths));
  c.out(0, key_type,
        s.packed ? Shape{s.batch, s.q_length, s.q_heads * s.value_head}
                 : Shape{s.batch, s.q_heads, s.q_length, s.value_head});
  c.out(1, key_type, Shape{s.batch, s.kv_heads, s.total_length(), s.head});
  c.out(2, value_type, Shape{s.batch, s.kv_heads, s.total_length(), s.value_head});
  c.out(3, key_type, Shape{s.batch, s.q_heads, s.q_length, s.total_length()});
  return {};
}

// The products of a query with a key, and of the weights with the values.
double count_attention_terms(std::span<const Type* const> inputs) {
  const auto extent = [&](size_t input, size_t from_end) {
    const Shape* shape = known_shape(inputs, input);
    if (!shape || shape->size() < from_end || !(*shape)[shape->size() - from_end].is_constant()) return kManyTerms;
    return static_cast<double>((*shape)[shape->size() - from_end].value());
  };
  return extent(0, 1) + extent(1, 2) + (inputs.size() > 4 && inputs[4] ? extent(4, 2) : 0);
}

Status infer_flex_attention(InferContext& c) {
  const auto& p = c.params<FlexAttentionParams>();
  for (size_t i = 0; i < 3; ++i) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kFloats));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
    TN_RETURN_IF_ERROR(c.expect_rank(i, 4));
  }
  if (p.softmax_precision && !kFloats.has(*p.softmax_precision))
    return invalid_model("softmax_precision must name a float type");
  if (p.scale && !(*p.scale >= 0)) return invalid_model("scale is {}; it must not be negative", *p.scale);
  Type scores = Type::tensor(p.precision(c.dtype(0)));
  std::optional<Shape> result;
  if (c.shape(0) && c.shape(1) && c.shape(2)) {
    TN_ASSIGN_OR_RETURN(auto s, attention_sizes({}, *c.shape(0), *c.shape(1), *c.shape(2), nullptr, nullptr));
    scores.shape = Shape{s.batch, s.q_heads, s.q_length, s.kv_length};
    result = Shape{s.batch, s.q_heads, s.q_length, s.value_head};
  }
  for (size_t body = 0; body < p.body_count(); ++body) {
    TN_ASSIGN_OR_RETURN(auto types, c.infer_body(body, {scores}));
    if (types.size() != 1) return invalid_model("a modifier must have one output, but it has {}", types.size());
    if (!merge(types[0], scores))
      return invalid_model("a modifier changes {} into {}; it must keep the type and shape", scores.to_string(),
                           types[0].to_string());
  }
  c.out(0, c.dtype(0), std::move(result));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Attention>() {
  return define<AttentionParams>({.inputs = {3, 7},
                                  .outputs = {1, 4},
                                  .infer = infer_attention,
                                  .can_fail = true,
                                  .rounding = {.results = 8, .count_terms = count_attention_terms}});
}

template <>
OpDef op_definition<OpId::FlexAttention>() {
  return define<FlexAttentionParams>(
      {.inputs = {3, 3}, .outputs = {1, 1}, .infer = infer_flex_attention, .body_count = [](const Params& p) {
         return p.get<FlexAttentionParams>().body_count();
       }});
}

}  // namespace tenon
