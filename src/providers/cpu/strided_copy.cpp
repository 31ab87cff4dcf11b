#include "providers/cpu/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"

namespace tenon {

namespace {

constexpr int64_t kCopyBytes = 1 << 16;
// Rows and columns of the squares that are turned: a line of memory on both sides.
constexpr int64_t kSquare = 16;
// The same of the tiles that a chunk turns.
constexpr int64_t kTurnedTile = 128;

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

// How a copy is cut: loops over the outer axes, and one or two inner ones that are done at once, in tiles where they
// are long: so that no single row is the work of one thread, or keeps a cancelled run.
struct CopyLoops {
  CopyAxis row;
  CopyAxis down{1, 0, 0};  // of a copy that turns
  bool turns = false;
  std::array<CopyAxis, kMostCopyAxes> outer;
  size_t count = 0;
  int64_t steps = 1;  // of the outer loops
  int64_t tile_row = 1, tile_down = 1;

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
    const int64_t elements = kCopyBytes / copy.element_bytes;
    tile_down = std::min(down.extent, kTurnedTile);
    tile_row = std::min(row.extent, round_to_squares(elements / tile_down));
    if (tile_down < down.extent) tile_down = std::min(down.extent, round_to_squares(elements / tile_row));
  }

  static int64_t round_to_squares(int64_t n) { return std::max(kSquare, n / kSquare * kSquare); }
  int64_t tiles() const { return ceil_div(row.extent, tile_row) * ceil_div(down.extent, tile_down); }
};

// One tile of the innermost axes: loops that begin there, over a copy that does too.
void move_to_tile(int64_t tile, CopyLoops& loops, StridedCopy& copy) {
  const int64_t across = ceil_div(loops.row.extent, loops.tile_row);
  const int64_t column = tile % across * loops.tile_row, line = tile / across * loops.tile_down;
  copy.from += (column * loops.row.from + line * loops.down.from) * copy.element_bytes;
  copy.to += (column * loops.row.to + line * loops.down.to) * copy.element_bytes;
  loops.row.extent = std::min(loops.tile_row, loops.row.extent - column);
  loops.down.extent = std::min(loops.tile_down, loops.down.extent - line);
}

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

}  // namespace

void run_copies(KernelContext& c, std::span<StridedCopy> copies) {
  for (StridedCopy& copy : copies) {
    merge_axes(copy);
    const CopyLoops loops(copy);
    if (const int64_t tiles = loops.tiles(); tiles > 1) {
      c.parallel_for(loops.steps * tiles, [&](int64_t chunk) {
        CopyLoops own_loops = loops;
        StridedCopy own_copy = copy;
        move_to_tile(chunk % tiles, own_loops, own_copy);
        run_range(own_copy, own_loops, chunk / tiles, chunk / tiles + 1);
      });
      continue;
    }
    const int64_t bytes = loops.row.extent * loops.down.extent * copy.element_bytes;
    const int64_t per_chunk = std::max<int64_t>(1, kCopyBytes / bytes);
    c.parallel_for(ceil_div(loops.steps, per_chunk), [&](int64_t chunk) {
      run_range(copy, loops, chunk * per_chunk, std::min(loops.steps, (chunk + 1) * per_chunk));
    });
  }
}

}  // namespace tenon
