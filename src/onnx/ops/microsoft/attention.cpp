// Attention with projections, masks of integers and caches around it: all of them end in the canonical Attention.
#include "ops/attention.h"

#include <algorithm>
#include <cmath>

#include "onnx/ops/any_rank.h"
#include "onnx/ops/constant_numbers.h"
#include "onnx/ops/microsoft/emit.h"
#include "onnx/ops/microsoft/fusions.h"
#include "ops/concat.h"
#include "ops/rotary_embedding.h"
#include "ops/shape_of.h"
#include "ops/split.h"

namespace tenon {

namespace {

// What these ops have in common.
struct Pieces {
  ValueId q = kNone, k = kNone, v = kNone;  // q [batch, length, features], k and v like it or split into heads
  ValueId mask = kNone, bias = kNone;       // integers; what is added to the scores
  ValueId past_key = kNone, past_value = kNone;
  ValueId past_length = kNone;  // of a past that lies in a larger buffer, which the present then is
  ValueId beams = kNone;
  bool causal = false;
};

struct Attended {
  ValueId y, present_key, present_value, scores;
};

int64_t head_count(ImportNode& n) {
  const int64_t heads = n.int_attribute("num_heads", 0);
  if (heads < 1) n.fail(invalid_model("num_heads is {}; it must be positive", heads));
  return std::max<int64_t>(heads, 1);
}

std::vector<ValueId> split(ImportNode& n, ValueId x, int64_t axis, size_t parts, ValueId sizes = kNone) {
  SplitParams params;
  params.axis = axis;
  if (sizes == kNone) return n.emit(OpId::Split, Params::of(params), {x}, parts);
  return n.emit(OpId::Split, Params::of(params), {x, sizes}, parts);
}

ValueId squeeze(ImportNode& n, ValueId x, int64_t axis) {
  return n.emit1(OpId::Squeeze, default_params(OpId::Squeeze), {x, n.int_constant({axis})});
}

ValueId concat(ImportNode& n, std::vector<ValueId> parts) {
  return n.emit1(OpId::Concat, Params::of(ConcatParams{0}), std::move(parts));
}

ValueId last_extent(ImportNode& n, ValueId x) {
  return n.emit1(OpId::Shape, Params::of(ShapeParams{-1, std::nullopt}), {x});
}

Attended attend(ImportNode& n, const Pieces& p, int64_t heads) {
  AttentionParams params;
  params.q_num_heads = params.kv_num_heads = heads;
  params.is_causal = p.causal;
  params.qk_matmul_output_mode = 2;
  params.whole_mask = true;
  const float scale = n.float_attribute("scale", 0);
  if (scale != 0) params.scale = std::abs(scale);
  const float filter = n.float_attribute("mask_filter_value", AttentionBiasParams{}.mask_filter_value);
  std::vector<ValueId> keys{p.past_key, kNone}, values{p.past_value, kNone};
  if (p.past_length != kNone) {
    const Params none = default_params(OpId::KeyValueCache);
    keys = n.emit(OpId::KeyValueCache, none, {p.past_key, p.k, p.past_length, p.beams}, 2);
    values = n.emit(OpId::KeyValueCache, none, {p.past_value, p.v, p.past_length, p.beams}, 2);
  }
  ValueId added = p.bias;
  if (p.mask != kNone)
    added = n.emit1(OpId::AttentionBias, Params::of(AttentionBiasParams{filter}), {p.q, p.k, keys[0], p.mask, p.bias});
  const bool wants_scores = n.output_count() > 3;
  auto results = n.emit(OpId::Attention, Params::of(params),
                        {emit::scale(n, p.q, scale < 0 ? -1.0f : 1.0f), p.k, p.v, added, keys[0], values[0]},
                        wants_scores           ? 4
                        : n.output_count() > 1 ? 3
                                               : 1);
  results.resize(4, kNone);
  const bool in_buffer = p.past_length != kNone;
  return {results[0], in_buffer ? keys[1] : results[1], in_buffer ? values[1] : results[2], results[3]};
}

ValueId slice(ImportNode& n, ValueId x, ValueId begin, ValueId end) {
  return n.emit1(OpId::Slice, default_params(OpId::Slice), {x, begin, end});
}

// The parts of a bias for a key and value of open rank: zeros when binding finds them split into heads.
std::pair<ValueId, ValueId> bias_if_packed(ImportNode& n, const Pieces& p, ValueId bias, ValueId q_width) {
  const ValueId is_packed = emit::plain(n, OpId::Equal, rank_value(n, p.k), n.int_constant({3}));
  const ValueId none = number_constant(n, n.type(bias).dtype, 0);
  const auto part = [&](ValueId begin, ValueId end) {
    return n.emit1(OpId::Where, default_params(OpId::Where), {is_packed, slice(n, bias, begin, end), none});
  };
  const ValueId k_end = emit::add(n, q_width, last_extent(n, p.k));
  return {part(q_width, k_end), part(k_end, emit::add(n, k_end, last_extent(n, p.v)))};
}

// Adds the three parts of a bias, as long together as q, k and v are wide. Keys and values that come split into heads
// have theirs already.
void add_projection_bias(ImportNode& n, Pieces& p, ValueId bias) {
  if (bias == kNone) return;
  const auto rank = n.rank(p.k);
  const ValueId q_width = last_extent(n, p.q);
  if (rank && *rank != 4) {
    const ValueId sizes = concat(n, {q_width, last_extent(n, p.k), last_extent(n, p.v)});
    const auto parts = split(n, bias, 0, 3, sizes);
    p.q = emit::add(n, p.q, parts[0]);
    p.k = emit::add(n, p.k, parts[1]);
    p.v = emit::add(n, p.v, parts[2]);
    return;
  }
  if (!rank) {
    const auto [k_bias, v_bias] = bias_if_packed(n, p, bias, q_width);
    p.k = emit::add(n, p.k, k_bias);
    p.v = emit::add(n, p.v, v_bias);
  }
  p.q = emit::add(n, p.q, slice(n, bias, n.int_constant({0}), q_width));
}

// Parts of x [batch, length, heads, parts, size], each [batch, length, heads, size].
std::vector<ValueId> unpack_heads(ImportNode& n, ValueId x, size_t parts) {
  auto pieces = split(n, x, 3, parts);
  for (ValueId& piece : pieces) piece = squeeze(n, piece, 3);
  return pieces;
}
ValueId heads_first(ImportNode& n, ValueId x) { return emit::transpose(n, x, {0, 2, 1, 3}); }

void unpack_query(ImportNode& n, Pieces& p, ValueId& bias, int64_t heads) {
  const auto& shape = n.type(p.q).shape;
  if (shape && shape->size() != 5)
    return n.fail(
        invalid_model("a query without a key must have the shape [batch, length, heads, 3, size], but its shape is {}",
                      shape_text(*shape)));
  const Dim width = shape ? (*shape)[4] * Dim(heads) : Dim(-1);
  if (width.is_invalid()) return n.fail(invalid_model("{} heads are too many", heads));
  const auto parts = unpack_heads(n, p.q, 3);
  p.q = emit::reshape(n, parts[0], {0, 0, width.constant().value_or(-1)});
  p.k = heads_first(n, parts[1]);
  p.v = heads_first(n, parts[2]);
  if (bias == kNone) return;
  const auto biases = split(n, bias, 0, 3);
  p.q = emit::add(n, p.q, biases[0]);
  p.k = emit::add(n, p.k, emit::reshape(n, biases[1], {heads, 1, -1}));
  p.v = emit::add(n, p.v, emit::reshape(n, biases[2], {heads, 1, -1}));
  bias = kNone;
}

void import_multi_head_attention(ImportNode& n) {
  const int64_t heads = head_count(n);
  Pieces p{.q = n.input(0),
           .k = n.input(1),
           .v = n.input(2),
           .mask = n.input(4),
           .bias = n.input(5),
           .past_key = n.input(6),
           .past_value = n.input(7)};
  p.causal = n.int_attribute("unidirectional", 0) != 0;
  ValueId bias = n.input(3);
  // Both say where in the past something is; without a past they may be given and mean nothing.
  const ValueId past_length = n.input(8), beams = n.input(9);
  if (p.past_key != kNone) {
    p.past_length = past_length;
    p.beams = beams;
  }
  if (p.k == kNone && p.v != kNone) return n.fail(invalid_model("a value is given without a key"));
  if (p.k == kNone) {
    unpack_query(n, p, bias, heads);
  } else if (p.v == kNone) {
    if (bias != kNone) return n.fail(invalid_model("a key that contains the value must not have a bias"));
    const auto parts = unpack_heads(n, p.k, 2);
    p.k = heads_first(n, parts[0]);
    p.v = heads_first(n, parts[1]);
  }
  add_projection_bias(n, p, bias);
  const Attended a = attend(n, p, heads);
  n.finish({a.y, a.present_key, a.present_value, a.scores});
}

void import_decoder_masked_attention(ImportNode& n) {
  const int64_t heads = head_count(n);
  n.ignore_attribute("output_qk");
  Pieces p{.q = n.input(0),
           .k = n.input(1),
           .v = n.input(2),
           .mask = n.input(3),
           .bias = n.input(4),
           .past_key = n.input(5),
           .past_value = n.input(6)};
  if (n.int_attribute("past_present_share_buffer", 0) != 0 && p.past_key != kNone) {
    p.past_length = n.input(7);
    p.beams = n.input(9);
    if (p.past_length == kNone) return n.fail(invalid_model("past_present_share_buffer needs past_sequence_length"));
  }
  if (p.k == kNone && p.v == kNone) {
    const auto parts = split(n, p.q, 2, 3);
    p.q = parts[0];
    p.k = parts[1];
    p.v = parts[2];
  }
  if (p.k == kNone || p.v == kNone) return n.fail(invalid_model("key and value must be given together"));
  add_projection_bias(n, p, n.input(10));
  const Attended a = attend(n, p, heads);
  n.finish({a.y, a.present_key, a.present_value, a.scores});
}

// Turns query and key by their positions, which go on from the past: halves of each head's first `rotated` features
// (0: all of them) by angles that fall from 1 to 1/10000 per position.
void rotate(ImportNode& n, Pieces& p, int64_t heads, int64_t rotated) {
  const auto scalar = [&](int64_t number) { return n.constant(Tensor::scalar(number)); };
  const auto real = [&](ValueId x) { return emit::cast(n, x, DType::Float32); };
  const auto number = [&](float x) { return number_constant(n, DType::Float32, x); };
  const auto extent = [&](ValueId x, int64_t axis) {
    return squeeze(n, n.emit1(OpId::Shape, Params::of(ShapeParams{axis, axis + 1}), {x}), 0);
  };
  const auto range = [&](ValueId begin, ValueId end, int64_t step) {
    return real(n.emit1(OpId::Range, default_params(OpId::Range), {begin, end, scalar(step)}));
  };
  const ValueId size = rotated > 0 ? scalar(rotated) : emit::plain(n, OpId::Div, extent(p.q, 2), scalar(heads));
  ValueId begin = scalar(0);
  if (p.past_length != kNone)
    begin = emit::reshape(n, emit::cast(n, p.past_length, DType::Int64), {});
  else if (p.past_key != kNone)
    begin = extent(p.past_key, 2);
  const ValueId positions = range(begin, emit::add(n, begin, extent(p.q, 1)), 1);
  const ValueId exponents = emit::plain(n, OpId::Div, range(scalar(0), size, 2), real(size));
  const ValueId wave_lengths = emit::plain(n, OpId::Pow, number(10000), exponents);
  const ValueId angles = emit::plain(n, OpId::Div, emit::unsqueeze(n, positions, {1}), wave_lengths);
  RotaryEmbeddingParams params;
  params.num_heads = heads;
  params.rotary_embedding_dim = rotated;
  const DType dtype = n.type(p.q).dtype;
  const ValueId cosines = emit::cast(n, emit::plain(n, OpId::Cos, angles), dtype);
  const ValueId sines = emit::cast(n, emit::plain(n, OpId::Sin, angles), dtype);
  for (ValueId* x : {&p.q, &p.k})
    *x = n.emit1(OpId::RotaryEmbedding, Params::of(params), {*x, cosines, sines, n.int_constant({0})});
}

// Self-attention from the sums of all projections [batch, length, features]; past and present hold keys and values.
void import_projected(ImportNode& n, ValueId projected, ValueId mask, ValueId past, ValueId bias, ValueId past_length) {
  const int64_t heads = head_count(n);
  const auto sizes = n.ints_attribute("qkv_hidden_sizes");
  const bool rotates = n.int_attribute("do_rotary", 0) != 0;
  const int64_t rotated_size = n.int_attribute("rotary_embedding_dim", 0);
  for (int64_t size : sizes)
    if (size < 1 || size % heads != 0)
      return n.fail(
          invalid_model("qkv_hidden_sizes has {}, which cannot be divided evenly among {} heads", size, heads));
  if (!sizes.empty() && sizes.size() != 3)
    return n.fail(invalid_model("qkv_hidden_sizes must have 3 numbers, but it has {}", sizes.size()));
  const auto& shape = n.type(projected).shape;
  if (sizes.empty() && shape && !shape->empty() && shape->back().is_constant() && shape->back().value() % 3 != 0)
    return n.fail(
        invalid_model("{} features cannot be divided into query, key and value of equal width", shape->back().value()));
  const auto parts = split(n, projected, 2, 3, sizes.empty() ? kNone : n.int_constant(sizes));
  Pieces p{.q = parts[0], .k = parts[1], .v = parts[2], .mask = mask, .bias = bias};
  p.causal = n.int_attribute("unidirectional", 0) != 0;
  const bool in_buffer = n.int_attribute("past_present_share_buffer", 0) != 0;
  if (past != kNone) {
    const auto halves = split(n, past, 0, 2);
    p.past_key = squeeze(n, halves[0], 0);
    p.past_value = squeeze(n, halves[1], 0);
    if (in_buffer && past_length == kNone)
      return n.fail(invalid_model("past_present_share_buffer needs past_sequence_length"));
    if (in_buffer) p.past_length = past_length;
  }
  if (rotates) rotate(n, p, heads, rotated_size);
  const Attended a = attend(n, p, heads);
  if (n.output_count() < 2) return n.finish({a.y});
  n.finish({a.y, concat(n, {emit::unsqueeze(n, a.present_key, {0}), emit::unsqueeze(n, a.present_value, {0})})});
}

void import_attention(ImportNode& n) {
  const ValueId projected = emit::add(n, emit::plain(n, OpId::MatMul, n.input(0), n.input(1)), n.input(2));
  import_projected(n, projected, n.input(3), n.input(4), n.input(5), n.input(6));
}

void import_quantized_attention(ImportNode& n) {
  const ValueId projected =
      emit::scaled_product(n, {n.input(0), n.input(1), n.input(6), n.input(7)}, n.input(3), n.input(4), n.input(2));
  import_projected(n, projected, n.input(5), n.input(8), kNone, kNone);
}

}  // namespace

void map_microsoft_attention(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "Attention", OpId::Attention, import_attention);
  map.custom(kMicrosoftDomain, "QAttention", OpId::Attention, import_quantized_attention);
  map.custom(kMicrosoftDomain, "MultiHeadAttention", OpId::Attention, import_multi_head_attention);
  map.custom(kMicrosoftDomain, "DecoderMaskedMultiHeadAttention", OpId::Attention, import_decoder_masked_attention);
}

template <>
void onnx_mapping<OpId::AttentionBias>(OnnxMap&) {}
template <>
void onnx_mapping<OpId::KeyValueCache>(OnnxMap&) {}
template <>
void onnx_mapping<OpId::GroupQueryAttention>(OnnxMap& map) {
  map.same(kMicrosoftDomain, "GroupQueryAttention", OpId::GroupQueryAttention);
}

}  // namespace tenon
