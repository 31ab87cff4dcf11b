#include "ops/grid.h"

#include "providers/reference/grid_sampler.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// The weighted sum over the product of the axes' taps.
template <class T>
double sum_taps(const T* image, const std::vector<GridTaps>& taps, const std::vector<int64_t>& strides,
                WorkMeter& meter, size_t axis = 0) {
  meter.spend();
  if (axis == taps.size()) return static_cast<double>(widen(*image));
  double sum = 0;
  for (const GridTap& tap : taps[axis])
    if (tap.index >= 0) sum += tap.weight * sum_taps(image + tap.index * strides[axis], taps, strides, meter, axis + 1);
  return sum;
}

template <class T>
void sample(KernelContext& c, std::span<const double> coordinates) {
  const TensorView &data = c.in(0), &out = c.out(0);
  // Where rounding decides between pixels, it is float's rounding that everybody has.
  const bool is_double = c.in(1).dtype == DType::Float64;
  const Dims image = data.dims.subspan(2);
  const GridSampler sampler(c.params<GridSampleParams>(), image);
  const std::vector<int64_t> strides = row_major_strides(image);
  const int64_t batches = out.dims[0], channels = out.dims[1], points = out.size() / (batches * channels);
  const int64_t pixels = data.size() / (batches * channels), axes = static_cast<int64_t>(image.size());
  const T* source = static_cast<const T*>(data.data);
  T* target = static_cast<T*>(out.data);
  std::vector<GridTaps> taps(image.size());
  WorkMeter meter;
  for (int64_t n = 0; n < batches; ++n) {
    for (int64_t point = 0; point < points; ++point) {
      for (size_t axis = 0; axis < image.size(); ++axis) {
        // A point lists its coordinates from the last axis to the first.
        const int64_t at = (n * points + point) * axes + axes - 1 - static_cast<int64_t>(axis);
        const double pixel = sampler.pixel_of(axis, coordinates[static_cast<size_t>(at)]);
        taps[axis] = sampler.taps(axis, is_double ? pixel : static_cast<float>(pixel));
      }
      for (int64_t channel = 0; channel < channels; ++channel) {
        meter.spend(4 * axes);
        const int64_t plane = n * channels + channel;
        target[plane * points + point] = sampled<T>(sum_taps(source + plane * pixels, taps, strides, meter));
      }
    }
  }
}

// Element i of `extent` between -1 and 1: at the corners, or at the middles of equal cells.
double grid_coordinate(int64_t i, int64_t extent, bool align_corners) {
  if (!align_corners) return (2 * static_cast<double>(i) + 1) / static_cast<double>(extent) - 1;
  return extent == 1 ? -1 : 2 * static_cast<double>(i) / static_cast<double>(extent - 1) - 1;
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::GridSample>() {
  return [](KernelContext& c) -> Status {
    if (c.out(0).size() == 0) return {};
    TN_ASSIGN_OR_RETURN(const Tensor grid, to_doubles(c.in(1), c.budget()));
    return dispatch_numbers(c.in(0).dtype, [&](auto tag) {
      sample<typename decltype(tag)::type>(c, grid.as<double>());
      return Status();
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::AffineGrid>() {
  return [](KernelContext& c) -> Status {
    const TensorView& out = c.out(0);
    if (out.size() == 0) return {};
    const bool align = c.params<AffineGridParams>().align_corners;
    const size_t axes = static_cast<size_t>(out.dims.back());
    return dispatch_floats(out.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* theta = static_cast<const T*>(c.in(0).data);
      T* target = static_cast<T*>(out.data);
      for (Walker<0> w(out.dims.first(axes + 1), {}); w.more(); w.next()) {
        const T* matrix = theta + static_cast<size_t>(w.index()[0]) * axes * (axes + 1);
        for (size_t row = 0; row < axes; ++row) {
          double sum = widen(matrix[row * (axes + 1) + axes]);
          // Coordinates go from the last axis to the first.
          for (size_t k = 0; k < axes; ++k)
            sum +=
                widen(matrix[row * (axes + 1) + k]) * grid_coordinate(w.index()[axes - k], out.dims[axes - k], align);
          target[static_cast<size_t>(w.position()) * axes + row] = narrow<T>(sum);
        }
      }
      return Status();
    });
  };
}

}  // namespace tenon
