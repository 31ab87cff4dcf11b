#include "ops/grid.h"

#include "providers/reference/indexing.h"
#include "providers/reference/interpolation.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// Folds x back and forth between two borders.
double reflect(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double turn = std::fmod(std::abs(x - low), 2 * range);
  return low + (turn <= range ? turn : 2 * range - turn);
}

// One axis of the sampled image.
struct ImageAxis {
  int64_t extent;
  double low, high;  // the image's borders in pixels
};

struct GridTap {
  int64_t index;  // -1: outside, counts as zero
  double weight;
};

class Sampler {
 public:
  Sampler(const GridSampleParams& params, Dims image) : p_(params) {
    for (int64_t d : image) {
      const double extent = static_cast<double>(d);
      axes_.push_back({d, p_.align_corners ? 0 : -0.5, p_.align_corners ? extent - 1 : extent - 0.5});
    }
  }

  // A grid coordinate in [-1, 1] as a place among the pixels of an axis.
  double pixel_of(size_t axis, double x) const {
    const double extent = static_cast<double>(axes_[axis].extent);
    return p_.align_corners ? (x + 1) / 2 * (extent - 1) : ((x + 1) * extent - 1) / 2;
  }

  std::vector<GridTap> taps(size_t axis, double x) const {
    if (p_.mode == "nearest") x = std::nearbyint(x);
    x = bring_near(axes_[axis], x);
    if (p_.mode == "nearest") return {{pixel_index(axes_[axis], static_cast<int64_t>(x)), 1}};
    const int64_t reach = p_.mode == "cubic" ? 2 : 1, base = static_cast<int64_t>(std::floor(x));
    std::vector<GridTap> result;
    for (int64_t i = base - reach + 1; i <= base + reach; ++i) {
      const double distance = static_cast<double>(i) - x;
      const double weight = p_.mode == "cubic" ? cubic_weight(distance, -0.75) : linear_weight(distance);
      if (weight != 0) result.push_back({pixel_index(axes_[axis], i), weight});
    }
    return result;
  }

 private:
  // Coordinates beyond the borders, as the padding mode has it. What remains fits an integer.
  double bring_near(const ImageAxis& axis, double x) const {
    const double last = static_cast<double>(axis.extent - 1);
    // Cubic weights reach over the border: the pixels there are repeated, not the coordinate moved.
    const bool repeats_pixels = p_.mode == "cubic" && p_.padding_mode == "border";
    if (p_.padding_mode == "zeros" || repeats_pixels) return x == x ? std::clamp(x, -4.0, last + 4) : -4;
    if (x != x) return 0;
    if (x >= axis.low && x <= axis.high) return x;
    if (p_.padding_mode == "border" || std::isinf(x)) return std::clamp(x, 0.0, last);
    return reflect(x, axis.low, axis.high);
  }

  int64_t pixel_index(const ImageAxis& axis, int64_t i) const {
    if (i >= 0 && i < axis.extent) return i;
    if (p_.padding_mode == "zeros") return -1;
    if (p_.padding_mode == "reflection") i = static_cast<int64_t>(reflect(static_cast<double>(i), axis.low, axis.high));
    return std::clamp<int64_t>(i, 0, axis.extent - 1);
  }

  const GridSampleParams& p_;
  std::vector<ImageAxis> axes_;
};

// The weighted sum over the product of the axes' taps.
template <class T>
double sum_taps(const T* image, const std::vector<std::vector<GridTap>>& taps, const std::vector<int64_t>& strides,
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
  const Sampler sampler(c.params<GridSampleParams>(), image);
  const std::vector<int64_t> strides = row_major_strides(image);
  const int64_t batches = out.dims[0], channels = out.dims[1], points = out.size() / (batches * channels);
  const int64_t pixels = data.size() / (batches * channels), axes = static_cast<int64_t>(image.size());
  const T* source = static_cast<const T*>(data.data);
  T* target = static_cast<T*>(out.data);
  std::vector<std::vector<GridTap>> taps(image.size());
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
