#include "providers/cpu/pointwise_tiles.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "providers/cpu/pointwise_simd.h"

namespace tenon {

namespace {

// Chunks of about this much work are worth a thread: additions, of which a core does several each nanosecond.
constexpr int64_t kTiledChunkWork = 1 << 18;
constexpr int64_t kLongTile = 8192;
// Results of so many elements are in no cache when somebody reads them.
constexpr int64_t kLargeResult = 1 << 22;
// A chunk of them ends by waiting for memory, so that chunks are larger.
constexpr int64_t kChunkOfLargeResult = 1 << 18;

static_assert(PointwiseTiles::kGathered % kMostBlockElements == 0 && kLongTile % kMostBlockElements == 0);

}  // namespace

PointwiseTiles::PointwiseTiles(Dims result, std::span<const Dims> operands, int64_t work_of_element)
    : grid_(result, operands) {
  // Rows that end within a block cost as much as a gathered tile.
  is_cut_by_rows_ = grid_.rows == 1 || grid_.row >= 2 * kGathered || grid_.row % kMostBlockElements == 0;
  row_ = is_cut_by_rows_ ? grid_.row : elements();
  tile_ = std::min(row_, is_cut_by_rows_ ? kLongTile : kGathered);
  tiles_per_row_ = ceil_div(row_, tile_);
  tiles_ = elements() / row_ * tiles_per_row_;
  tiles_per_chunk_ = std::max<int64_t>(1, kTiledChunkWork / (tile_ * work_of_element));
  if (are_large()) tiles_per_chunk_ = std::max(tiles_per_chunk_, kChunkOfLargeResult / tile_);
  for (size_t i = 0; i < operands.size(); ++i) access_[i] = find_access(i);
}

PointwiseTiles::Access PointwiseTiles::find_access(size_t operand) const {
  if (grid_.is_number(operand)) return Access::Number;
  if (grid_.is_dense(operand)) return Access::Dense;
  if (!is_cut_by_rows_) return Access::Gathered;
  return grid_.repeats_in_row(operand) ? Access::RowNumber : Access::Row;
}

bool PointwiseTiles::are_large() const { return elements() >= kLargeResult; }

int64_t PointwiseTiles::chunks() const { return ceil_div(tiles_, tiles_per_chunk_); }

int64_t PointwiseTiles::end_tile(int64_t chunk) const { return std::min(tiles_, first_tile(chunk + 1)); }

PointwiseTiles::Tile PointwiseTiles::tile(int64_t number) const {
  const int64_t row = number / tiles_per_row_, column = number % tiles_per_row_ * tile_;
  const Tile tile{row * row_ + column, std::min(tile_, row_ - column), row, column};
  if (is_cut_by_rows_) return tile;
  return {tile.position, tile.count, tile.position / grid_.row, tile.position % grid_.row};
}

int64_t PointwiseTiles::offset(size_t operand, const Tile& tile) const {
  switch (access_[operand]) {
    case Access::Dense:
      return tile.position;
    case Access::Row:
      return RowCursor(grid_, operand, tile.row).offset() + tile.column;
    case Access::RowNumber:
      return RowCursor(grid_, operand, tile.row).offset();
    case Access::Number:
    case Access::Gathered:
      break;
  }
  return 0;
}

bool PointwiseTiles::begin_at_multiples_of(int64_t unit) const {
  return tile_ % unit == 0 && (row_ % unit == 0 || row_ == elements());
}

// Rows that are the same elements are copied at once.
void PointwiseTiles::gather(size_t operand, const Tile& tile, const std::byte* from, int64_t bytes,
                            std::byte* to) const {
  const bool repeats = grid_.repeats_in_row(operand);
  RowCursor cursor(grid_, operand, tile.row);
  int64_t column = tile.column;
  for (int64_t left = tile.count; left > 0;) {
    const int64_t offset = cursor.offset();
    int64_t count = std::min(left, grid_.row - column);
    const int64_t first = repeats ? 1 : count;
    const bool is_whole = column == 0 && count == grid_.row;
    for (cursor.next(); is_whole && cursor.offset() == offset && count < left; cursor.next())
      count += std::min(left - count, grid_.row);
    const std::byte* row = from + (repeats ? offset : offset + column) * bytes;
    std::memcpy(to, row, static_cast<size_t>(first * bytes));
    repeat_first(to, first * bytes, count * bytes);
    to += count * bytes;
    left -= count;
    column = 0;
  }
}

// Copies twice as much each time, so that it is vectors that move.
void repeat_first(std::byte* elements, int64_t first, int64_t count) {
  for (int64_t done = first; done < count; done *= 2)
    std::memcpy(elements + done, elements, static_cast<size_t>(std::min(done, count - done)));
}

}  // namespace tenon
