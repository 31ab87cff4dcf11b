#include "providers/cpu/panel_product.h"

#include <algorithm>

#include "base/checked_math.h"
#include "providers/provider.h"

namespace tenon {

void multiply_panels(const TileTable& table, const float* a, int64_t rows, int64_t depth, const float* packed,
                     int64_t panels, float* sums) {
  // One block at least: without any product the sums are zero.
  const int64_t blocks = std::max<int64_t>(1, ceil_div(depth, kProductDepthBlock));
  for (int64_t block = 0; block < blocks; ++block) {
    if (block % kBlocksBetweenPolls == kBlocksBetweenPolls - 1) poll_cancelled();
    const int64_t begin = depth * block / blocks, end = depth * (block + 1) / blocks;
    const TileOperands operands{.a = a + begin,
                                .a_stride = depth,
                                .b = packed + begin * 16,
                                .b_panel_stride = depth * 16,
                                .b_depth_stride = 16,
                                .depth = end - begin,
                                .c = sums,
                                .c_stride = kPanelBlock * 16,
                                .accumulate = block > 0,
                                .next = end < depth ? packed + end * 16 : packed + panels * depth * 16};
    multiply_tiles(table, TileOrder::RowMajor, operands, rows, panels);
  }
}

}  // namespace tenon
