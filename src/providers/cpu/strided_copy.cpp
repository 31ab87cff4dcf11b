#include "providers/cpu/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"

namespace tenon {

namespace {

constexpr int64_t kCopyBytes = 1 << 16;
// Rows and columns of the squares that are turned: a line of memory on both sides.
constexpr int64_t kSquare = 16;

using CopyAxis = StridedCopy::Axis;

// Axes of one element go; neighbours that go on as they began become one.
void merge_axes(StridedCopy& copy) {
  size_t kept = 0;
  for (size_t i = 0; i < copy.count; ++i) {
    const CopyAxis axis = copy.axes[i];
    if (axis.extent == 1) continue;
    if (kept > 0) {
      CopyAxis& outer = copy.axes[kept - 1];
      if (outer.from == axis.from * axis.extent && outer.to == axis.to * axis.extent) {
        outer = {outer.extent * axis.extent, axis.from, axis.to};
        continue;
      }
    }
    copy.axes[kept++] = axis;
  }
  if (kept == 0) copy.axes[kept++] = {1, 1, 1};
  copy.count = kept;
}

template <class T>
void copy_row(const T* from, T* to, const CopyAxis& row) {
  if (row.from == 1 && row.to == 1) {
    std::memcpy(to, from, static_cast<size_t>(row.extent) * sizeof(T));
  } else if (row.from == 0 && row.to == 1) {
    std::fill_n(to, row.extent, *from);
  } else {
    for (int64_t i = 0; i < row.extent; ++i) to[i * row.to] = from[i * row.from];
  }
}

// `down` goes by 1 in the source and `row` in the target: squares keep both in the cache.
template <class T>
void turn(const T* from, T* to, const CopyAxis& down, const CopyAxis& row) {
  for (int64_t i = 0; i < down.extent; i += kSquare) {
    const int64_t rows = std::min(kSquare, down.extent - i);
    for (int64_t j = 0; j < row.extent; j += kSquare) {
      const int64_t columns = std::min(kSquare, row.extent - j);
      const T* source = from + i + j * row.from;
      T* target = to + i * down.to + j;
      if (rows == kSquare && columns == kSquare) {
        for (int64_t a = 0; a < kSquare; ++a)
          for (int64_t b = 0; b < kSquare; ++b) target[a * down.to + b] = source[b * row.from + a];
      } else {
        for (int64_t a = 0; a < rows; ++a)
          for (int64_t b = 0; b < columns; ++b) target[a * down.to + b] = source[b * row.from + a];
      }
    }
  }
}

// How a copy is cut: loops over the outer axes, and one or two inner ones that are done at once.
struct CopyLoops {
  CopyAxis row;
  CopyAxis down{1, 0, 0};  // of a copy that turns
  bool turns = false;
  std::array<CopyAxis, kMostCopyAxes> outer;
  size_t count = 0;
  int64_t steps = 1;  // of the outer loops

  explicit CopyLoops(const StridedCopy& copy) {
    row = copy.axes[copy.count - 1];
    size_t down_axis = copy.count;
    for (size_t i = 0; i + 1 < copy.count && row.from != 1 && row.from != 0 && row.to == 1; ++i)
      if (copy.axes[i].from == 1) down_axis = i;
    if (down_axis < copy.count) {
      down = copy.axes[down_axis];
      turns = true;
    }
    for (size_t i = 0; i + 1 < copy.count; ++i)
      if (i != down_axis) {
        outer[count++] = copy.axes[i];
        steps *= copy.axes[i].extent;
      }
  }
};

template <class T>
void run_steps(const StridedCopy& copy, const CopyLoops& loops, int64_t first, int64_t end) {
  std::array<int64_t, kMostCopyAxes> index{};
  const T* from = reinterpret_cast<const T*>(copy.from);
  T* to = reinterpret_cast<T*>(copy.to);
  int64_t position = first;
  for (size_t i = loops.count; i-- > 0; position /= loops.outer[i].extent) {
    index[i] = position % loops.outer[i].extent;
    from += index[i] * loops.outer[i].from;
    to += index[i] * loops.outer[i].to;
  }
  for (int64_t step = first; step < end; ++step) {
    if (loops.turns)
      turn(from, to, loops.down, loops.row);
    else
      copy_row(from, to, loops.row);
    for (size_t i = loops.count; i-- > 0;) {
      const CopyAxis& axis = loops.outer[i];
      from += axis.from;
      to += axis.to;
      if (++index[i] < axis.extent) break;
      from -= axis.from * axis.extent;
      to -= axis.to * axis.extent;
      index[i] = 0;
    }
  }
}

struct Pair {
  uint64_t parts[2];
};

void run_range(const StridedCopy& copy, const CopyLoops& loops, int64_t first, int64_t end) {
  switch (copy.element_bytes) {
    case 1:
      return run_steps<uint8_t>(copy, loops, first, end);
    case 2:
      return run_steps<uint16_t>(copy, loops, first, end);
    case 4:
      return run_steps<uint32_t>(copy, loops, first, end);
    case 8:
      return run_steps<uint64_t>(copy, loops, first, end);
    default:
      return run_steps<Pair>(copy, loops, first, end);
  }
}

// A long innermost loop is cut as well, so that a single row is not the work of one thread.
void cut_long_rows(StridedCopy& copy) {
  CopyAxis& row = copy.axes[copy.count - 1];
  const int64_t piece = kCopyBytes / copy.element_bytes;
  if (copy.count == kMostCopyAxes || row.extent < 2 * piece || row.extent % piece != 0) return;
  const CopyAxis inner{piece, row.from, row.to};
  row = {row.extent / piece, row.from * piece, row.to * piece};
  copy.axes[copy.count++] = inner;
}

}  // namespace

void run_copies(KernelContext& c, std::span<StridedCopy> copies) {
  for (StridedCopy& copy : copies) {
    merge_axes(copy);
    cut_long_rows(copy);
    const CopyLoops loops(copy);
    const int64_t bytes = loops.row.extent * loops.down.extent * copy.element_bytes;
    const int64_t per_chunk = std::max<int64_t>(1, kCopyBytes / bytes);
    c.parallel_for(ceil_div(loops.steps, per_chunk), [&](int64_t chunk) {
      run_range(copy, loops, chunk * per_chunk, std::min(loops.steps, (chunk + 1) * per_chunk));
    });
  }
}

}  // namespace tenon
