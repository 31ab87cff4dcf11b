#include "ops/attention.h"

#include "ops/shape_checks.h"

namespace tenon {

namespace {

struct RotarySizes {
  Dim batch, length, half;  // half: angles per position
};

Result<RotarySizes> rotary_sizes(const RotaryEmbeddingParams& p, const Shape& x) {
  if (x.size() != 3 && x.size() != 4) return invalid_model("X must have rank 3 or 4, it is {}", shape_text(x));
  if (x.size() == 3 && p.num_heads < 1) return invalid_model("3-D inputs need a positive 'num_heads'");
  const Dim head = x.size() == 4 ? x[3] : floor_div(x[2], Dim(p.num_heads));
  if (x.size() == 3 && x[2].is_constant() && x[2].value() % p.num_heads != 0)
    return invalid_model("{} features are not divisible into {} heads", x[2].value(), p.num_heads);
  const Dim rotated = p.rotary_embedding_dim > 0 ? Dim(p.rotary_embedding_dim) : head;
  if (rotated.is_constant() && rotated.value() % 2 != 0)
    return invalid_model("{} rotated features are an odd number", rotated.value());
  if (p.rotary_embedding_dim < 0 || (rotated.is_constant() && head.is_constant() && rotated.value() > head.value()))
    return invalid_model("rotary_embedding_dim is {}, heads have {} features", p.rotary_embedding_dim,
                         head.to_string());
  return RotarySizes{x[0], x[x.size() == 4 ? 2 : 1], floor_div(rotated, Dim(2))};
}

Status check_cache(InferContext& c, size_t i, const char* what, const RotarySizes& s) {
  const Shape* cache = c.shape(i);
  if (!cache) return {};
  const bool by_position = c.has(3);
  const bool fits = by_position ? cache->size() == 2 && !differ((*cache)[1], s.half)
                                : cache->size() == 3 && !differ((*cache)[0], s.batch) &&
                                      !differ((*cache)[1], s.length) && !differ((*cache)[2], s.half);
  if (fits) return {};
  return invalid_model("{} must have the shape [{}{}], it has {}", what,
                       by_position ? "positions, " : s.batch.to_string() + ", " + s.length.to_string() + ", ",
                       s.half.to_string(), shape_text(*cache));
}

Status infer_rotary_embedding(InferContext& c) {
  for (size_t i = 0; i < 3; ++i) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kFloats));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
  }
  TN_RETURN_IF_ERROR(c.expect_tensor(3, {DType::Int64}));
  c.out(0, c.in(0));
  if (!c.shape(0)) return {};
  TN_ASSIGN_OR_RETURN(auto s, rotary_sizes(c.params<RotaryEmbeddingParams>(), *c.shape(0)));
  TN_RETURN_IF_ERROR(check_cache(c, 1, "cos_cache", s));
  TN_RETURN_IF_ERROR(check_cache(c, 2, "sin_cache", s));
  if (c.shape(1) && c.shape(2) && c.has(3) && differ((*c.shape(1))[0], (*c.shape(2))[0]))
    return invalid_model("cos_cache and sin_cache have different numbers of positions");
  return expect_shape(c, 3, "position_ids", {s.batch, s.length});
}

}  // namespace

template <>
OpDef op_definition<OpId::RotaryEmbedding>() {
  return define<RotaryEmbeddingParams>({.inputs = {3, 4}, .outputs = {1, 1}, .infer = infer_rotary_embedding});
}

}  // namespace tenon
