#include "ops/roi_pooling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "providers/reference/doubles.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// More points than this per bin mean a region far larger than any image.
constexpr double kMostSamples = 1 << 24;

struct Image {
  int64_t height, width;
  const double* pixels;
};

// Where a region's bins sample one axis.
struct SampledAxis {
  double start, bin, points;
  double at(int64_t position, int64_t point) const {
    return start + static_cast<double>(position) * bin + (static_cast<double>(point) + 0.5) * bin / points;
  }
};

SampledAxis sampled_axis(const RoiAlignParams& p, double begin, double end, int64_t size) {
  const bool half_pixel = p.coordinate_transformation_mode == "half_pixel";
  const double scale = static_cast<double>(p.spatial_scale), offset = half_pixel ? 0.5 : 0.0;
  const double start = begin * scale - offset;
  double length = end * scale - offset - start;
  if (!half_pixel) length = std::max(length, 1.0);
  const double bin = length / static_cast<double>(size);
  const double points = p.sampling_ratio > 0 ? static_cast<double>(p.sampling_ratio) : std::max(0.0, std::ceil(bin));
  return {start, bin, points};
}

// The two pixels around a coordinate along one axis and the weight of the second.
struct Neighbours {
  int64_t low, high;
  double weight;
  static Neighbours of(double at, int64_t size) {
    at = std::max(at, 0.0);
    const int64_t low = static_cast<int64_t>(at);
    if (low >= size - 1) return {size - 1, size - 1, 0.0};
    return {low, low + 1, at - static_cast<double>(low)};
  }
};

// The four weighted pixels around a point; all zero outside the image.
std::array<double, 4> weighted_corners(const Image& image, double y, double x) {
  const bool inside = y >= -1.0 && y <= static_cast<double>(image.height) && x >= -1.0 &&
                      x <= static_cast<double>(image.width) && image.height > 0 && image.width > 0;
  if (!inside) return {};
  const Neighbours v = Neighbours::of(y, image.height), h = Neighbours::of(x, image.width);
  auto pixel = [&](int64_t row, int64_t column) { return image.pixels[row * image.width + column]; };
  return {(1 - v.weight) * (1 - h.weight) * pixel(v.low, h.low), (1 - v.weight) * h.weight * pixel(v.low, h.high),
          v.weight * (1 - h.weight) * pixel(v.high, h.low), v.weight * h.weight * pixel(v.high, h.high)};
}

double pool_bin(const Image& image, const SampledAxis& vertical, const SampledAxis& horizontal, int64_t row,
                int64_t column, bool average) {
  const int64_t rows = static_cast<int64_t>(vertical.points), columns = static_cast<int64_t>(horizontal.points);
  double sum = 0.0, largest = rows * columns == 0 ? 0.0 : -std::numeric_limits<double>::infinity();
  WorkMeter meter;
  for (int64_t i = 0; i < rows; ++i) {
    meter.spend(4 * columns);
    for (int64_t j = 0; j < columns; ++j) {
      const auto corners = weighted_corners(image, vertical.at(row, i), horizontal.at(column, j));
      sum += corners[0] + corners[1] + corners[2] + corners[3];
      largest = std::max(largest, *std::ranges::max_element(corners));
    }
  }
  return average ? sum / static_cast<double>(std::max<int64_t>(1, rows * columns)) : largest;
}

Status run_roi_align(KernelContext& c) {
  const auto& p = c.params<RoiAlignParams>();
  const Dims x_dims = c.in(0).dims, y_dims = c.out(0).dims;
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles rois, read_doubles(c, 1));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  const auto batch = c.in(2).as<int64_t>();
  int64_t to = 0;
  for (int64_t r = 0; r < y_dims[0]; ++r) {
    const int64_t item = batch[static_cast<size_t>(r)];
    if (item < 0 || item >= x_dims[0])
      return invalid_argument("batch index {} of region {} is outside a batch of {}", item, r, x_dims[0]);
    const SampledAxis horizontal = sampled_axis(p, rois[r * 4], rois[r * 4 + 2], y_dims[3]);
    const SampledAxis vertical = sampled_axis(p, rois[r * 4 + 1], rois[r * 4 + 3], y_dims[2]);
    if (!(vertical.points * horizontal.points <= kMostSamples) || vertical.points > kMostSamples ||
        horizontal.points > kMostSamples)
      return invalid_argument("region {} needs {} x {} samples per bin, which is too many", r, vertical.points,
                              horizontal.points);
    for (int64_t channel = 0; channel < x_dims[1]; ++channel) {
      const Image image{x_dims[2], x_dims[3], x.data() + (item * x_dims[1] + channel) * x_dims[2] * x_dims[3]};
      for (int64_t i = 0; i < y_dims[2]; ++i)
        for (int64_t j = 0; j < y_dims[3]; ++j) y[to++] = pool_bin(image, vertical, horizontal, i, j, p.mode == "avg");
    }
  }
  y.store(c.out(0));
  return {};
}

// Bins of whole pixels along one axis of a region.
struct PixelAxis {
  double start, bin;
  static PixelAxis of(double begin, double end, double scale, int64_t bins) {
    const double first = std::round(begin * scale), last = std::round(end * scale);
    return {first, std::max(last - first + 1.0, 1.0) / static_cast<double>(bins)};
  }
  // Pixels [first, last) of a bin, inside an axis of this size.
  std::pair<int64_t, int64_t> range(int64_t i, int64_t size) const {
    auto clamp = [&](double at) { return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(size))); };
    return {clamp(std::floor(static_cast<double>(i) * bin) + start),
            clamp(std::ceil(static_cast<double>(i + 1) * bin) + start)};
  }
};

double largest_pixel(const Image& image, std::pair<int64_t, int64_t> rows, std::pair<int64_t, int64_t> columns) {
  if (rows.first >= rows.second || columns.first >= columns.second) return 0.0;
  double largest = -std::numeric_limits<double>::infinity();
  WorkMeter meter;
  for (int64_t i = rows.first; i < rows.second; ++i) {
    meter.spend(columns.second - columns.first);
    for (int64_t j = columns.first; j < columns.second; ++j)
      largest = std::max(largest, image.pixels[i * image.width + j]);
  }
  return largest;
}

Status run_max_roi_pool(KernelContext& c) {
  const double scale = static_cast<double>(c.params<MaxRoiPoolParams>().spatial_scale);
  const Dims x_dims = c.in(0).dims, y_dims = c.out(0).dims;
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles rois, read_doubles(c, 1));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  int64_t to = 0;
  for (int64_t r = 0; r < y_dims[0]; ++r) {
    const double* roi = rois.data() + r * 5;
    if (!(roi[0] >= 0 && roi[0] < static_cast<double>(x_dims[0])))
      return invalid_argument("batch index {} of region {} is outside a batch of {}", roi[0], r, x_dims[0]);
    if (std::any_of(roi + 1, roi + 5, [&](double v) { return !std::isfinite(v * scale); }))
      return invalid_argument("region {} has a coordinate that is not finite", r);
    const int64_t item = static_cast<int64_t>(roi[0]);
    const PixelAxis horizontal = PixelAxis::of(roi[1], roi[3], scale, y_dims[3]);
    const PixelAxis vertical = PixelAxis::of(roi[2], roi[4], scale, y_dims[2]);
    for (int64_t channel = 0; channel < x_dims[1]; ++channel) {
      const Image image{x_dims[2], x_dims[3], x.data() + (item * x_dims[1] + channel) * x_dims[2] * x_dims[3]};
      for (int64_t i = 0; i < y_dims[2]; ++i)
        for (int64_t j = 0; j < y_dims[3]; ++j)
          y[to++] = largest_pixel(image, vertical.range(i, x_dims[2]), horizontal.range(j, x_dims[3]));
    }
  }
  y.store(c.out(0));
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::RoiAlign>() {
  return run_roi_align;
}
template <>
KernelFunction reference_kernel<OpId::MaxRoiPool>() {
  return run_max_roi_pool;
}

}  // namespace tenon
