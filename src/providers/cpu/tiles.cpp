#include "providers/cpu/tiles.h"

#include <algorithm>

#include "base/checked_math.h"

namespace tenon {

void multiply_tiles(const TileTable& table, TileOrder order, const TileOperands& operands, int64_t rows,
                    int64_t panels) {
  if (rows <= 0 || panels <= 0) return;
  // Cut evenly: two tiles of 8 rows keep more multipliers busy than one of 14 and one of 2.
  const int64_t row_tiles = ceil_div(rows, int64_t{table.most_rows});
  const int64_t most_panels = table.most_panels[ceil_div(rows, row_tiles)];
  const int64_t panel_tiles = ceil_div(panels, most_panels);
  for (int64_t p = 0; p < panel_tiles; ++p) {
    const int64_t panel = panels * p / panel_tiles, panel_end = panels * (p + 1) / panel_tiles;
    for (int64_t r = 0; r < row_tiles; ++r) {
      const int64_t row = rows * r / row_tiles, row_end = rows * (r + 1) / row_tiles;
      TileOperands tile = operands;
      tile.a += order == TileOrder::RowMajor ? row * operands.a_stride : row;
      tile.b += panel * operands.b_panel_stride;
      tile.c += row * operands.c_stride + panel * 16;
      // The panels after these, one with each tile of rows; after the last ones, what comes next.
      const int64_t after = panel_end + r;
      tile.next = r >= panel_end - panel ? nullptr
                  : after < panels       ? operands.b + after * operands.b_panel_stride
                  : operands.next        ? operands.next + (after - panels) * operands.b_panel_stride
                                         : nullptr;
      table.function[static_cast<int>(order)][row_end - row][panel_end - panel](tile);
    }
  }
}

}  // namespace tenon
