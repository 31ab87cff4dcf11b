#pragma once

#include <array>
#include <optional>

#include "plan/layout.h"
#include "providers/cpu/broadcast_grid.h"

namespace tenon {

// How an operand of an elementwise step lies in memory, seen as a tensor that broadcasts to the result.
class StoredDims {
 public:
  StoredDims() = default;
  // The dims as they are.
  explicit StoredDims(Dims dims);
  // Of a step with a result of `rank` axes in blocks: [batch, blocks, spatial..., 16].
  static StoredDims in_blocks(Dims dims, bool is_blocked, size_t rank);

  Dims dims() const { return {extents_.data(), axes_}; }
  // A plain operand with a number for each channel, which its last block has more of, is to be read from a copy:
  // images, channels and the blocks' numbers for each image.
  struct Padding {
    int64_t images = 0, channels = 0, stored = 0;
  };
  const Padding& padding() const { return padding_; }

 private:
  std::array<int64_t, kMostGridAxes> extents_{};
  size_t axes_ = 0;
  Padding padding_;
};

// Whether in_blocks() has a view for a plain operand: a number for everything, for each position, or for each channel.
bool fits_blocks(Dims dims, size_t rank);

}  // namespace tenon
