#pragma once

#include <array>

#include "providers/cpu/conv_shape.h"
#include "providers/cpu/gather.h"

namespace tenon {

// Where neighbouring output positions [begin, end) find their inputs, for one tap at a time, as rows of `width` columns
// of which the last ones stay zero.
class ConvPieces {
 public:
  // Positions at a time.
  static constexpr int64_t kMost = 64;

  ConvPieces(const ConvShape& shape, int64_t begin, int64_t end, int64_t width)
      : shape_(shape), begin_(begin), end_(end), width_(static_cast<int32_t>(width)) {}

  void find(int64_t tap_index);
  const GatherPiece* pieces() const { return pieces_.data(); }
  int64_t count() const { return count_; }

 private:
  void add_row(const std::array<int64_t, 3>& tap, int64_t row, int64_t column, int64_t length, int64_t first,
               int64_t last, int32_t to);
  int64_t input_position(size_t axis, int64_t position, int64_t tap) const;
  void add(int32_t to, int32_t count, int64_t from);

  const ConvShape& shape_;
  int64_t begin_, end_;
  int32_t width_;
  int64_t count_ = 0;
  std::array<GatherPiece, 3 * kMost + 1> pieces_;
};

// Gathers the inputs of output positions [begin, end) for a block of the depth: to[k * width + position - begin].
// x: the first channel of the block.
void gather_positions(const ConvShape& shape, const DepthBlock& block, int64_t begin, int64_t end, int64_t width,
                      const float* x, GatherFunction gather, float* to);

}  // namespace tenon
