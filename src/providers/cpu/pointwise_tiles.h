#pragma once

#include <array>
#include <span>

#include "ops/pointwise.h"
#include "providers/cpu/broadcast_grid.h"

namespace tenon {

static_assert(kMostPointwiseInputs <= kMostGridOperands);

// How the elements of a broadcast result are cut into tiles. Where rows are long, a tile is a part of one row, and
// every operand is read where it is. Short rows are cut as if they were one, and operands that do not have all elements
// of the result are gathered.
class PointwiseTiles {
 public:
  // Elements of a tile whose operands are gathered.
  static constexpr int64_t kGathered = 1024;

  // How an operand is read.
  enum class Access : uint8_t {
    Dense,      // the elements of the tile, one after the other
    Row,        // so is a part of a row
    RowNumber,  // one number for the tile
    Number,     // one number for all tiles
    Gathered,   // from memory that gather() fills
  };

  PointwiseTiles(Dims result, std::span<const Dims> operands, int64_t work_of_element);

  int64_t chunks() const;
  // Tiles [first, end) of a chunk.
  int64_t first_tile(int64_t chunk) const { return chunk * tiles_per_chunk_; }
  int64_t end_tile(int64_t chunk) const;

  struct Tile {
    int64_t position = 0, count = 0;  // in the result
    int64_t row = 0, column = 0;      // of its first element
  };
  Tile tile(int64_t number) const;

  int64_t elements() const { return grid_.rows * grid_.row; }
  // Too large for the caches.
  bool are_large() const;
  Access access(size_t operand) const { return access_[operand]; }
  static bool is_number(Access a) { return a == Access::Number || a == Access::RowNumber; }
  // The place of the first element of a tile in an operand that is not gathered.
  int64_t offset(size_t operand, const Tile& tile) const;
  // Fills `to` with the elements of a tile, each of `bytes` bytes.
  void gather(size_t operand, const Tile& tile, const std::byte* from, int64_t bytes, std::byte* to) const;
  // Whether every tile begins at a multiple of this.
  bool begin_at_multiples_of(int64_t unit) const;

 private:
  Access find_access(size_t operand) const;

  BroadcastGrid grid_;
  bool is_cut_by_rows_ = true;
  int64_t row_ = 0, tile_ = 0;  // elements, where rows that are not cut by count as one
  int64_t tiles_per_row_ = 0, tiles_ = 0, tiles_per_chunk_ = 1;
  std::array<Access, kMostPointwiseInputs> access_{};
};

// The first elements, again and again, up to `count` bytes.
void repeat_first(std::byte* elements, int64_t first, int64_t count);

}  // namespace tenon
