// The largest element of each window and where it is: the first of equals in the order of the input. Windows of any
// size cost what they read.
#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "ops/pooling.h"
#include "providers/cpu/pool_shape.h"

namespace tenon {

namespace {

// Elements of windows that make a chunk worth sending to another thread.
constexpr int64_t kPlacesWork = 1 << 14;

struct PlacesState {
  PoolShape shape;
  bool column_major = false;
  int64_t rows_per_chunk = 1;

  int64_t rows() const { return shape.planes * shape.out[0] * shape.out[1]; }
  int64_t chunks() const { return ceil_div(rows(), rows_per_chunk); }
};

struct Largest {
  float value = -HUGE_VALF;
  std::array<int64_t, 3> at{-1, -1, -1};
};

// The taps of one output position that lie in the input, and the input position of the first tap.
struct WindowPart {
  int64_t first = 0, last = 0, start = 0, step = 1;
  WindowPart(const WindowAxis& axis, int64_t position, int64_t extent)
      : start(position * axis.stride - axis.pad_begin), step(axis.dilation) {
    std::tie(first, last) = axis.taps_inside(position, extent);
  }
  int64_t input(int64_t tap) const { return start + tap * step; }
};

Largest largest_of(const PoolShape& shape, const float* plane, const WindowPart& z, const WindowPart& y,
                   const WindowPart& x) {
  Largest best;
  for (int64_t i = z.first; i < z.last; ++i)
    for (int64_t j = y.first; j < y.last; ++j) {
      const float* row = plane + (z.input(i) * shape.in[1] + y.input(j)) * shape.in[2];
      for (int64_t k = x.first; k < x.last; ++k) {
        const float value = row[x.input(k)];
        // NaN wins over everything.
        if (best.at[2] < 0 || value > best.value || (std::isnan(value) && !std::isnan(best.value)))
          best = {value, {z.input(i), y.input(j), x.input(k)}};
      }
    }
  return best;
}

// One row of results; places may be null.
void find_row(const PlacesState& state, int64_t row, const float* x, float* y, int64_t* places) {
  const PoolShape& s = state.shape;
  const int64_t slice = row / s.out[1], plane = slice / s.out[0];
  const WindowPart depth(s.window[0], slice % s.out[0], s.in[0]), height(s.window[1], row % s.out[1], s.in[1]);
  for (int64_t i = 0; i < s.out[2]; ++i) {
    const WindowPart width(s.window[2], i, s.in[2]);
    const Largest best = largest_of(s, x + plane * s.in_plane(), depth, height, width);
    const auto [at_z, at_y, at_x] = best.at;
    const int64_t offset =
        state.column_major ? (at_x * s.in[1] + at_y) * s.in[0] + at_z : (at_z * s.in[1] + at_y) * s.in[2] + at_x;
    y[row * s.out[2] + i] = best.value;
    if (places) places[row * s.out[2] + i] = at_x < 0 ? -1 : plane * s.in_plane() + offset;
  }
}

}  // namespace

Result<KernelState> bind_pool_places(const BindRequest& request) {
  const auto& p = request.params.get<MaxPoolParams>();
  TN_ASSIGN_OR_RETURN(const PoolShape shape, PoolShape::of(request, p.window));
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  auto state = std::make_shared<PlacesState>(shape, p.storage_order == 1);
  int64_t work = shape.out[2];
  for (const WindowAxis& axis : shape.window) work = std::min(work, kPlacesWork) * std::min(axis.kernel, kPlacesWork);
  state->rows_per_chunk = std::max<int64_t>(1, kPlacesWork / work);
  const int64_t chunks = state->chunks();
  return KernelState{std::move(state), 0, chunks};
}

Status run_pool_places(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& state = c.state<PlacesState>();
  const float* x = c.in(0).as<float>().data();
  float* y = c.out(0).as<float>().data();
  int64_t* places = c.wants(1) ? c.out(1).as<int64_t>().data() : nullptr;
  c.parallel_for(state.chunks(), [&](int64_t chunk) {
    const int64_t last = std::min(state.rows(), (chunk + 1) * state.rows_per_chunk);
    for (int64_t row = chunk * state.rows_per_chunk; row < last; ++row) find_row(state, row, x, y, places);
  });
  return {};
}

}  // namespace tenon
