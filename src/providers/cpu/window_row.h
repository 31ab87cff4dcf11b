#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "ops/window.h"

namespace tenon {

// Rows of a window, at most.
inline constexpr int64_t kMostWindowRows = 64;

// A row of results of windows that slide over a block of 16 channels.
struct WindowRow {
  // The input rows that the window's rows meet, from their first column on.
  const float* inputs[kMostWindowRows];
  int64_t rows = 0;
  // Along the row: result `column` and tap t meet at input column * stride + t * dilation - pad.
  int64_t kernel = 1, stride = 1, dilation = 1, pad = 0;
  int64_t input_columns = 0, columns = 0;
  float* y = nullptr;  // 16 numbers for each column

  // Results [first, last) whose windows lie inside.
  std::pair<int64_t, int64_t> columns_inside() const {
    const int64_t first = std::clamp<int64_t>((pad + stride - 1) / stride, 0, columns);
    const int64_t room = input_columns + pad - ((kernel - 1) * dilation + 1);
    return {first, std::clamp<int64_t>(room < 0 ? 0 : room / stride + 1, first, columns)};
  }
  // Taps [first, last) that hit the input.
  std::pair<int64_t, int64_t> taps_inside(int64_t column) const {
    const int64_t at = column * stride - pad, room = input_columns - at;
    const int64_t first = at >= 0 ? 0 : std::min(kernel, (-at + dilation - 1) / dilation);
    return {first, std::clamp<int64_t>(room <= 0 ? 0 : (room + dilation - 1) / dilation, first, kernel)};
  }
};

// Calls f(row of the window, row of the input) for the rows of a window that lie inside an input of these extents, at
// a line of a slice of the output. Rows are counted through all slices.
template <class F>
void for_each_row_inside(const std::array<WindowAxis, 3>& window, const std::array<int64_t, 3>& in, int64_t slice,
                         int64_t line, F&& f) {
  const WindowAxis &z = window[0], &y = window[1];
  const int64_t z_begin = slice * z.stride - z.pad_begin, y_begin = line * y.stride - y.pad_begin;
  for (int64_t i = 0; i < z.kernel; ++i) {
    const int64_t at = z_begin + i * z.dilation;
    if (at < 0 || at >= in[0]) continue;
    for (int64_t j = 0; j < y.kernel; ++j) {
      const int64_t from = y_begin + j * y.dilation;
      if (from >= 0 && from < in[1]) f(i * y.kernel + j, at * in[1] + from);
    }
  }
}

}  // namespace tenon
