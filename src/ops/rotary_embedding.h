#pragma once

#include "ops/infer.h"

namespace tenon {

struct RotaryEmbeddingParams {
  bool interleaved = false;
  int64_t num_heads = 0;             // of 3-D inputs
  int64_t rotary_embedding_dim = 0;  // 0: the whole head
  bool heads_from_cache = false;     // 3-D inputs without num_heads have heads twice as wide as the caches
  void fields(FieldVisitor& v) {
    v.field("interleaved", interleaved);
    v.field("num_heads", num_heads);
    v.field("rotary_embedding_dim", rotary_embedding_dim);
    v.field("heads_from_cache", heads_from_cache);
  }
};

// Three positions for every token; each angle belongs to one of them.
struct MRotaryEmbeddingParams {
  RotaryEmbeddingParams rotary;
  std::vector<int64_t> mrope_section;  // angles that belong to each position
  int64_t mrope_layout = 0;            // 0: one section after the other; 1: taking turns
  float scale = 1.0f;                  // of cosines and sines
  void fields(FieldVisitor& v) {
    v.field("interleaved", rotary.interleaved);
    v.field("num_heads", rotary.num_heads);
    v.field("rotary_embedding_dim", rotary.rotary_embedding_dim);
    v.field("mrope_section", mrope_section);
    v.field("mrope_layout", mrope_layout);
    v.field("scale", scale);
  }
  // Which of the three positions angle number i belongs to.
  int64_t stream(int64_t i) const {
    if (mrope_layout == 0) return i < mrope_section[0] ? 0 : i - mrope_section[0] < mrope_section[1] ? 1 : 2;
    const int64_t turn = i % 3;
    return turn != 0 && i / 3 < mrope_section[static_cast<size_t>(turn)] ? turn : 0;
  }
};

// X as vectors of one head at one position.
struct RotarySizes {
  Dim batch, heads, length, head, half;  // half: angles per position
};
// The sizes of X under caches of this shape (null: not known). Needs the rank of X.
Result<RotarySizes> rotary_sizes(const RotaryEmbeddingParams& params, const Shape& x, const Shape* cache);

}  // namespace tenon
