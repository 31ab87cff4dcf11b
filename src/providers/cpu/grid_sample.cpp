// GridSample of floats: where points lie is worked out once for all channels.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/grid_points.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/rows.h"
#include "providers/reference/grid_sampler.h"
#include "providers/reference/indexing.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

constexpr int64_t kGridPlaces = 1 << 18;     // pixels that the points of a block take
constexpr int64_t kGridPoints = 1 << 10;     // of a chunk whose places are worked out
constexpr int64_t kSampledPoints = 1 << 13;  // of a chunk of one channel, at least; whole vectors
constexpr size_t kMostGridAxes = 3;

struct GridState {
  int64_t taps_per_axis = 1, taps = 1;
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
  state.sample = sample_points_function(request.isa);
  return KernelState{std::make_shared<GridState>(state)};
}

// Where the points of a block lie.
class PointTaps {
 public:
  PointTaps(const GridState& state, const GridSampler& sampler, Dims image, int64_t points)
      : sampler_(sampler), strides_(row_major_strides(image)),
        // Whole vectors go beyond the last point.
        stride_(ceil_div(points, kSampledPoints) * kSampledPoints), taps_(state.taps),
        weights_(static_cast<size_t>(taps_ * stride_)), offsets_(weights_.size()) {}

  // Points [first, end) of the block; `coordinates` are those of the first.
  void locate(const float* coordinates, int64_t first, int64_t end) {
    const size_t axes = strides_.size();
    for (int64_t tap = 0; tap < taps_; ++tap) {
      std::fill_n(weights_.begin() + tap * stride_ + first, end - first, 0.0f);
      std::fill_n(offsets_.begin() + tap * stride_ + first, end - first, 0);
    }
    for (int64_t i = first; i < end; ++i, coordinates += axes) {
      std::array<GridTaps, kMostGridAxes> taps;
      for (size_t axis = 0; axis < axes; ++axis) {
        // A point lists its coordinates from the last axis to the first; everybody rounds to float here.
        const double x = double{coordinates[axes - 1 - axis]};
        taps[axis] = sampler_.taps(axis, double{static_cast<float>(sampler_.pixel_of(axis, x))});
      }
      int64_t next = i;
      place(std::span(taps.data(), axes), 0, 0, 1, next);
    }
  }

  GridPoints points(int64_t first, int64_t count) const {
    return {.offsets = offsets_.data() + first,
            .weights = weights_.data() + first,
            .stride = stride_,
            .taps = taps_,
            .count = count};
  }

 private:
  void place(std::span<const GridTaps> taps, size_t axis, int64_t offset, double weight, int64_t& next) {
    if (axis == taps.size()) {
      offsets_[static_cast<size_t>(next)] = static_cast<int32_t>(offset);
      weights_[static_cast<size_t>(next)] = static_cast<float>(weight);
      next += stride_;
      return;
    }
    for (const GridTap& tap : taps[axis])
      if (tap.index >= 0) place(taps, axis + 1, offset + tap.index * strides_[axis], weight * tap.weight, next);
  }

  const GridSampler& sampler_;
  AxisList strides_;
  int64_t stride_, taps_;
  Scratch<float> weights_;
  Scratch<int32_t> offsets_;
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
  const int64_t block = std::min(points, std::max(kSampledPoints, kGridPlaces / state.taps));
  PointTaps taps(state, sampler, image, block);
  for (int64_t n = 0; n < out.dims[0]; ++n)
    for (int64_t begin = 0; begin < points; begin += block) {
      const int64_t count = std::min(block, points - begin);
      c.parallel_for(ceil_div(count, kGridPoints), [&](int64_t chunk) {
        poll_cancelled();
        const int64_t first = chunk * kGridPoints;
        taps.locate(grid + (n * points + begin + first) * axes, first, std::min(count, first + kGridPoints));
      });
      // A plane at a time, which stays in a cache meanwhile.
      const int64_t parts = ceil_div(count, kSampledPoints);
      c.parallel_for(channels * parts, [&](int64_t chunk) {
        poll_cancelled();
        const int64_t plane = n * channels + chunk / parts, first = chunk % parts * kSampledPoints;
        state.sample(taps.points(first, std::min(kSampledPoints, count - first)), x + plane * pixels,
                     y + plane * points + begin + first);
      });
    }
  return {};
}

}  // namespace

std::span<const Variant> grid_sample_variants() {
  static const auto variants = with_reference(OpId::GridSample, {{"points", run_grid, bind_grid, true}});
  return variants;
}

}  // namespace tenon
