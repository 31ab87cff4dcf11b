#include "ops/rotary_embedding.h"

#include "ops/shape_checks.h"

namespace tenon {

Result<RotarySizes> rotary_sizes(const RotaryEmbeddingParams& p, const Shape& x, const Shape* cache) {
  if (x.size() != 3 && x.size() != 4)
    return invalid_model("X must have rank 3 or 4, but its shape is {}", shape_text(x));
  if (p.num_heads < 0) return invalid_model("num_heads is {}; it must not be negative", p.num_heads);
  RotarySizes s;
  s.batch = x[0];
  s.length = x[x.size() == 4 ? 2 : 1];
  if (x.size() == 4) {
    s.heads = x[1];
    s.head = x[3];
  } else if (p.num_heads > 0) {
    s.heads = Dim(p.num_heads);
    s.head = floor_div(x[2], s.heads);
    if (x[2].is_constant() && x[2].value() % p.num_heads != 0)
      return invalid_model("{} features cannot be divided evenly among {} heads", x[2].value(), p.num_heads);
  } else if (!p.heads_from_cache || p.rotary_embedding_dim > 0) {
    return invalid_model("3-D inputs need a positive 'num_heads'");
  } else {
    s.head = cache && !cache->empty() ? cache->back() * Dim(2) : Dim::symbol("head");
    if (s.head.equals(0)) return invalid_model("the caches are empty, so the size of a head is unknown");
    s.heads = floor_div(x[2], s.head);
    if (x[2].is_constant() && s.head.is_constant() && x[2].value() % s.head.value() != 0)
      return invalid_model("{} features cannot be divided evenly into heads of {} features", x[2].value(),
                           s.head.value());
  }
  const Dim rotated = p.rotary_embedding_dim > 0 ? Dim(p.rotary_embedding_dim) : s.head;
  if (rotated.is_constant() && rotated.value() % 2 != 0)
    return invalid_model("the number of rotated features is {}; it must be even", rotated.value());
  if (p.rotary_embedding_dim < 0 || (rotated.is_constant() && s.head.is_constant() && rotated.value() > s.head.value()))
    return invalid_model("rotary_embedding_dim is {}, but heads have {} features", p.rotary_embedding_dim,
                         s.head.to_string());
  s.half = floor_div(rotated, Dim(2));
  return s;
}

namespace {

Status check_cache(InferContext& c, size_t i, const char* what, const RotarySizes& s) {
  const Shape* cache = c.shape(i);
  if (!cache) return {};
  const bool by_position = c.has(3);
  const bool fits = by_position ? cache->size() == 2 && !differ((*cache)[1], s.half)
                                : cache->size() == 3 && !differ((*cache)[0], s.batch) &&
                                      !differ((*cache)[1], s.length) && !differ((*cache)[2], s.half);
  if (fits) return {};
  return invalid_model("{} must have the shape [{}{}], but it has {}", what,
                       by_position ? "positions, " : s.batch.to_string() + ", " + s.length.to_string() + ", ",
                       s.half.to_string(), shape_text(*cache));
}

// Types of X, caches and positions, and how the caches fit X; nothing while X's rank is unknown.
Result<std::optional<RotarySizes>> check_rotary(InferContext& c, const RotaryEmbeddingParams& p) {
  for (size_t i = 0; i < 3; ++i) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kFloats));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
  }
  TN_RETURN_IF_ERROR(c.expect_tensor(3, {DType::Int64}));
  c.out(0, c.in(0));
  if (!c.shape(0)) return std::optional<RotarySizes>();
  TN_ASSIGN_OR_RETURN(auto s, rotary_sizes(p, *c.shape(0), c.shape(1)));
  TN_RETURN_IF_ERROR(check_cache(c, 1, "cos_cache", s));
  TN_RETURN_IF_ERROR(check_cache(c, 2, "sin_cache", s));
  if (c.shape(1) && c.shape(2) && c.has(3) && differ((*c.shape(1))[0], (*c.shape(2))[0]))
    return invalid_model("cos_cache and sin_cache have different numbers of positions");
  return std::optional(s);
}

// One position for every token, or the position of the first token alone.
Status infer_rotary_embedding(InferContext& c) {
  TN_ASSIGN_OR_RETURN(auto s, check_rotary(c, c.params<RotaryEmbeddingParams>()));
  const Shape* ids = c.shape(3);
  if (!s || !ids || ids->empty() || (ids->size() == 1 && !differ((*ids)[0], Dim(1)))) return {};
  return expect_shape(c, 3, "position_ids", {s->batch, s->length});
}

Status infer_mrotary_embedding(InferContext& c) {
  const auto& p = c.params<MRotaryEmbeddingParams>();
  if (p.mrope_layout != 0 && p.mrope_layout != 1)
    return invalid_model("mrope_layout is {}; it must be 0 or 1", p.mrope_layout);
  if (p.mrope_section.size() != 3)
    return invalid_model("mrope_section must have 3 numbers, but it has {}", p.mrope_section.size());
  Dim angles;
  for (int64_t count : p.mrope_section) {
    if (count < 0) return invalid_model("mrope_section has the negative number {}", count);
    angles = angles + Dim(count);
  }
  TN_ASSIGN_OR_RETURN(auto s, check_rotary(c, p.rotary));
  if (!s) return {};
  if (angles.is_invalid() || differ(angles, s->half))
    return invalid_model("the sum of mrope_section is {}, but there are {} angles", angles.to_string(),
                         s->half.to_string());
  return expect_shape(c, 3, "position_ids", {Dim(3), s->batch, s->length});
}

}  // namespace

template <>
OpDef op_definition<OpId::RotaryEmbedding>() {
  return define<RotaryEmbeddingParams>(
      {.inputs = {3, 4}, .outputs = {1, 1}, .infer = infer_rotary_embedding, .can_fail = true});
}

template <>
OpDef op_definition<OpId::MRotaryEmbedding>() {
  return define<MRotaryEmbeddingParams>(
      {.inputs = {4, 4}, .outputs = {1, 1}, .infer = infer_mrotary_embedding, .can_fail = true});
}

}  // namespace tenon
