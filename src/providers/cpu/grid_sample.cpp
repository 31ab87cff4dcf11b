// GridSample of floats: where points lie is worked out once for all channels.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/grid_points.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/rows.h"
#include "providers/reference/grid_sampler.h"
#include "providers/reference/indexing.h"

namespace tenon {

namespace {

constexpr int64_t kLeastGridPoints = 128;  // of a chunk
constexpr int64_t kGridPlaces = 1 << 15;   // pixels of the points of a chunk: planes are read once for many points
constexpr int64_t kGridParts = 8;          // of an image, so that every core has some
constexpr size_t kMostGridAxes = 3;

struct GridState {
  int64_t taps_per_axis = 1, taps = 1;
  int64_t points = kLeastGridPoints;  // of a chunk
  SamplePointsFunction sample = nullptr;
};

Result<KernelState> bind_grid(const BindRequest& request) {
  const TensorView &image = request.inputs[0], &grid = request.inputs[1];
  if (image.dtype != DType::Float32 || grid.dtype != DType::Float32)
    return error(Code::Unsupported, "its elements are not float32");
  if (image.dims.size() > 2 + kMostGridAxes) return error(Code::Unsupported, "its images have too many axes");
  if (count_of(image.dims.subspan(2)) > std::numeric_limits<int32_t>::max())
    return error(Code::Unsupported, "its images are too large");
  const std::string& mode = request.params.get<GridSampleParams>().mode;
  GridState state;
  state.taps_per_axis = mode == "nearest" ? 1 : mode == "cubic" ? 4 : 2;
  for (size_t i = 2; i < image.dims.size(); ++i) state.taps *= state.taps_per_axis;
  const int64_t points = count_of(request.outputs[0].dims.subspan(2));
  // Whole vectors, which may go beyond the last point.
  state.points = std::clamp(ceil_div(points, kGridParts * kLeastGridPoints) * kLeastGridPoints, kLeastGridPoints,
                            kGridPlaces / state.taps);
  state.sample = sample_points_function(request.isa);
  const int64_t bytes = state.taps * state.points * static_cast<int64_t>(sizeof(float) + sizeof(int32_t));
  return KernelState{std::make_shared<GridState>(state), bytes};
}

// Some points of one image, in the memory of a thread.
class PointTaps {
 public:
  PointTaps(const GridState& state, const GridSampler& sampler, Dims image, std::byte* scratch)
      : state_(state), sampler_(sampler), strides_(row_major_strides(image)),
        weights_(reinterpret_cast<float*>(scratch)),
        offsets_(reinterpret_cast<int32_t*>(weights_ + state.taps * state.points)) {}

  GridPoints points(const float* coordinates, int64_t count) {
    const size_t axes = strides_.size();
    // Points beyond the last take nothing.
    std::fill_n(weights_, state_.taps * state_.points, 0.0f);
    std::fill_n(offsets_, state_.taps * state_.points, 0);
    for (int64_t i = 0; i < count; ++i) {
      std::array<GridTaps, kMostGridAxes> taps;
      for (size_t axis = 0; axis < axes; ++axis) {
        // A point lists its coordinates from the last axis to the first; everybody rounds to float here.
        const double x = double{coordinates[static_cast<size_t>(i) * axes + axes - 1 - axis]};
        taps[axis] = sampler_.taps(axis, double{static_cast<float>(sampler_.pixel_of(axis, x))});
      }
      int64_t next = i;
      place(std::span(taps.data(), axes), 0, 0, 1, next);
    }
    return {.offsets = offsets_, .weights = weights_, .stride = state_.points, .taps = state_.taps, .count = count};
  }

 private:
  void place(std::span<const GridTaps> taps, size_t axis, int64_t offset, double weight, int64_t& next) {
    if (axis == taps.size()) {
      offsets_[next] = static_cast<int32_t>(offset);
      weights_[next] = static_cast<float>(weight);
      next += state_.points;
      return;
    }
    for (const GridTap& tap : taps[axis])
      if (tap.index >= 0) place(taps, axis + 1, offset + tap.index * strides_[axis], weight * tap.weight, next);
  }

  const GridState& state_;
  const GridSampler& sampler_;
  AxisList strides_;
  float* weights_;
  int32_t* offsets_;
};

Status run_grid(KernelContext& c) {
  const TensorView &data = c.in(0), &out = c.out(0);
  if (out.size() == 0) return {};
  const auto& state = c.state<GridState>();
  const Dims image = data.dims.subspan(2);
  const GridSampler sampler(c.params<GridSampleParams>(), image);
  const int64_t channels = out.dims[1], points = count_of(out.dims.subspan(2)), pixels = count_of(image);
  const auto axes = static_cast<int64_t>(image.size());
  const float *x = static_cast<const float*>(data.data), *grid = static_cast<const float*>(c.in(1).data);
  float* y = static_cast<float*>(out.data);
  const int64_t parts = ceil_div(points, state.points);
  c.parallel_for(out.dims[0] * parts, [&](int64_t chunk) {
    const int64_t n = chunk / parts, first = chunk % parts * state.points;
    PointTaps taps(state, sampler, image, c.scratch<std::byte>());
    const GridPoints some = taps.points(grid + (n * points + first) * axes, std::min(state.points, points - first));
    poll_cancelled();
    for (int64_t plane = n * channels; plane < (n + 1) * channels; ++plane)
      state.sample(some, x + plane * pixels, y + plane * points + first);
  });
  return {};
}

}  // namespace

std::span<const Variant> grid_sample_variants() {
  static const auto variants = with_reference(OpId::GridSample, {{"points", run_grid, bind_grid}});
  return variants;
}

}  // namespace tenon
