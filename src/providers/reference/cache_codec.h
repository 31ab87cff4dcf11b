#pragma once

#include "ops/group_query_attention.h"
#include "providers/provider.h"

namespace tenon {

// Reads and writes the numbers of a key or value cache [batch, heads, capacity, head], which may be codes of 8 or 4
// bits: then a number is its code times the scale of the tensor or of its channel.
class CacheCodec {
 public:
  CacheCodec(const GroupQueryAttentionParams& params, const TensorView* scales, int64_t head_size)
      : params_(params), scales_(scales), head_(head_size) {}

  // Feature i of the vector at this row, which belongs to this head.
  double read(const TensorView& cache, int64_t row, int64_t head, int64_t i) const;
  // The same for writing; a cache of 4 bits starts as zeros and is written in order.
  void write(const TensorView& cache, int64_t row, int64_t head, int64_t i, double value) const;
  // What reading gives after writing.
  double rounded(DType cache_type, int64_t head, int64_t i, double value) const;

 private:
  double scale(int64_t head, int64_t i) const;
  double code(DType cache_type, int64_t head, int64_t i, double value) const;

  const GroupQueryAttentionParams& params_;
  const TensorView* scales_;
  int64_t head_;
};

}  // namespace tenon
