#include "providers/cpu/conv_pieces.h"

#include <algorithm>

namespace tenon {

void ConvPieces::find(int64_t tap_index) {
  count_ = 0;
  const auto tap = shape_.tap(tap_index);
  const auto [first, last] = shape_.columns_inside(tap[2]);
  for (int64_t position = begin_; position < end_;) {
    const int64_t column = position % shape_.out[2], row = position / shape_.out[2];
    const int64_t length = std::min(shape_.out[2] - column, end_ - position);
    add_row(tap, row, column, length, first, last, static_cast<int32_t>(position - begin_));
    position += length;
  }
  add(static_cast<int32_t>(end_ - begin_), width_ - static_cast<int32_t>(end_ - begin_), -1);
}

// Output columns [column, column + length) of one row, of which [first, last) see the input.
void ConvPieces::add_row(const std::array<int64_t, 3>& tap, int64_t row, int64_t column, int64_t length, int64_t first,
                         int64_t last, int32_t to) {
  const int64_t z = input_position(0, row / shape_.out[1], tap[0]);
  const int64_t y = input_position(1, row % shape_.out[1], tap[1]);
  if (z < 0 || y < 0) return add(to, static_cast<int32_t>(length), -1);
  const int64_t end = column + length, from = std::clamp(first, column, end), until = std::clamp(last, from, end);
  add(to, static_cast<int32_t>(from - column), -1);
  const int64_t x = from * shape_.window[2].stride + tap[2] * shape_.window[2].dilation - shape_.window[2].pad_begin;
  add(to + static_cast<int32_t>(from - column), static_cast<int32_t>(until - from),
      (z * shape_.in[1] + y) * shape_.in[2] + x);
  add(to + static_cast<int32_t>(until - column), static_cast<int32_t>(end - until), -1);
}

// -1 in the padding.
int64_t ConvPieces::input_position(size_t axis, int64_t position, int64_t tap) const {
  const WindowAxis& a = shape_.window[axis];
  const int64_t at = position * a.stride + tap * a.dilation - a.pad_begin;
  return at < shape_.in[axis] ? std::max<int64_t>(at, -1) : -1;
}

void ConvPieces::add(int32_t to, int32_t count, int64_t from) {
  if (count > 0) pieces_[static_cast<size_t>(count_++)] = {to, count, from};
}

void gather_positions(const ConvShape& shape, const DepthBlock& block, int64_t begin, int64_t end, int64_t width,
                      const float* x, GatherFunction gather, float* to) {
  ConvPieces pieces(shape, begin, end, width);
  Gather g{.step = shape.window[2].stride,
           .channels = block.channels,
           .from = x,
           .from_stride = shape.in_plane(),
           .to_stride = block.taps * width};
  for (int64_t t = 0; t < block.taps; ++t) {
    pieces.find(block.first_tap + t);
    g.pieces = pieces.pieces();
    g.piece_count = pieces.count();
    g.to = to + t * width;
    gather(g);
  }
}

}  // namespace tenon
