#include "providers/reference/winograd.h"

#include <algorithm>

#include "base/checked_math.h"
#include "providers/reference/work_meter.h"
#include "providers/winograd.h"

namespace tenon {

namespace {

// to = matrix * from * transpose(matrix), columns first.
template <size_t To, size_t From>
void transform(const double (&matrix)[To][From], const double (&from)[From][From], double (&to)[To][To]) {
  const auto sum = [&](size_t row, auto&& element) {
    double total = 0;
    bool is_first = true;
    for (size_t k = 0; k < From; ++k) {
      if (matrix[row][k] == 0) continue;
      const double product = matrix[row][k] * element(k);
      total = is_first ? product : total + product;
      is_first = false;
    }
    return total;
  };
  double half[To][From];
  for (size_t i = 0; i < To; ++i)
    for (size_t j = 0; j < From; ++j) half[i][j] = sum(i, [&](size_t k) { return from[k][j]; });
  for (size_t i = 0; i < To; ++i)
    for (size_t j = 0; j < To; ++j) to[i][j] = sum(j, [&](size_t k) { return half[i][k]; });
}

// Where output n meets k at the first point.
int64_t filter_index(int64_t n, int64_t k, int64_t depth) {
  return (n / kPanelWidth * depth + k) * kPanelWidth + n % kPanelWidth;
}

template <int Outputs>
void pack(const TensorView& weight, const float* scale, std::span<float> to) {
  constexpr int kEdge = Outputs + 2;
  const int64_t outputs = weight.dims[0], channels = weight.dims[1];
  const int64_t slices = winograd_slices(weight.dims.subspan(2)), depth = slices * channels;
  const int64_t point_size = ceil_div(outputs, kPanelWidth) * depth * kPanelWidth;
  const float* from = weight.as<float>().data();
  WorkMeter meter;
  // Outputs that fill up the last panel have filters of zeros.
  for (int64_t n = 0; n < ceil_div(outputs, kPanelWidth) * kPanelWidth; ++n) {
    meter.spend(depth * 9);
    for (int64_t k = 0; k < depth; ++k) {
      const float* taps = from + ((n * channels + k % channels) * slices + k / channels) * 9;
      double filter[3][3], points[kEdge][kEdge];
      for (int i = 0; i < 9; ++i) {
        const float value = n < outputs ? taps[i] : 0.0f;
        filter[i / 3][i % 3] = scale && n < outputs ? value * scale[n] : value;
      }
      transform(WinogradMatrices<Outputs>::kFilter, filter, points);
      for (int p = 0; p < kEdge * kEdge; ++p)
        to[static_cast<size_t>(p * point_size + filter_index(n, k, depth))] =
            static_cast<float>(points[p / kEdge][p % kEdge]);
    }
  }
}

template <int Outputs>
class Convolution {
 public:
  Convolution(const ConvGeometry& geometry, const double* x, const float* packed, double* y)
      : g_(geometry), x_(x), packed_(packed), y_(y), axis_(g_.dense.size() - 2), slices_(axis_ > 0 ? g_.dense[0] : 1),
        in_slices_(axis_ > 0 ? g_.strided[0] : 1), depth_axis_(axis_ > 0 ? g_.window.axes[0] : WindowAxis{}),
        depth_((axis_ > 0 ? depth_axis_.kernel : 1) * g_.strided_channels),
        point_size_(ceil_div(g_.dense_channels, kPanelWidth) * depth_ * kPanelWidth) {}

  void run() {
    WorkMeter meter;
    for (int64_t image = 0; image < g_.batch; ++image)
      for (int64_t n = 0; n < g_.dense_channels; ++n)
        for (int64_t slice = 0; slice < slices_; ++slice)
          for (int64_t row = 0; row < g_.dense[axis_]; row += Outputs)
            for (int64_t column = 0; column < g_.dense[axis_ + 1]; column += Outputs) {
              meter.spend(depth_ * kEdge * kEdge);
              tile(image, n, slice, row, column);
            }
  }

 private:
  static constexpr int kEdge = Outputs + 2;

  double input(const double* plane, int64_t row, int64_t column) const {
    const int64_t rows = g_.strided[axis_], columns = g_.strided[axis_ + 1];
    return row < 0 || column < 0 || row >= rows || column >= columns ? 0 : plane[row * columns + column];
  }

  void tile(int64_t image, int64_t n, int64_t slice, int64_t row, int64_t column) {
    const int64_t top = row - g_.window.axes[axis_].pad_begin, left = column - g_.window.axes[axis_ + 1].pad_begin;
    double products[kEdge][kEdge] = {};
    for (int64_t k = 0; k < depth_; ++k) {
      const int64_t c = k % g_.strided_channels, from = slice + k / g_.strided_channels - depth_axis_.pad_begin;
      if (from < 0 || from >= in_slices_) continue;
      const double* plane =
          x_ + ((image * g_.strided_channels + c) * in_slices_ + from) * g_.strided[axis_] * g_.strided[axis_ + 1];
      double values[kEdge][kEdge], points[kEdge][kEdge];
      for (int i = 0; i < kEdge; ++i)
        for (int j = 0; j < kEdge; ++j) values[i][j] = input(plane, top + i, left + j);
      transform(WinogradMatrices<Outputs>::kInput, values, points);
      for (int p = 0; p < kEdge * kEdge; ++p)
        products[p / kEdge][p % kEdge] +=
            points[p / kEdge][p % kEdge] * double{packed_[p * point_size_ + filter_index(n, k, depth_)]};
    }
    double results[Outputs][Outputs];
    transform(WinogradMatrices<Outputs>::kOutput, products, results);
    const int64_t rows = g_.dense[axis_], columns = g_.dense[axis_ + 1];
    double* plane = y_ + ((image * g_.dense_channels + n) * slices_ + slice) * rows * columns;
    for (int64_t i = 0; i < std::min<int64_t>(Outputs, rows - row); ++i)
      for (int64_t j = 0; j < std::min<int64_t>(Outputs, columns - column); ++j)
        plane[(row + i) * columns + column + j] += results[i][j];
  }

  const ConvGeometry& g_;
  const double* x_;
  const float* packed_;
  double* y_;
  const size_t axis_;                 // of the tiles' rows
  const int64_t slices_, in_slices_;  // along the axis before, where there is one
  const WindowAxis depth_axis_;
  const int64_t depth_, point_size_;
};

}  // namespace

void pack_winograd(const TensorView& weight, const float* scale, PackedLayout layout, std::span<float> to) {
  (layout == PackedLayout::Winograd2 ? pack<2> : pack<4>)(weight, scale, to);
}

void convolve_winograd(const ConvGeometry& geometry, PackedLayout layout, const double* x, const float* packed,
                       double* y) {
  if (layout == PackedLayout::Winograd2)
    Convolution<2>(geometry, x, packed, y).run();
  else
    Convolution<4>(geometry, x, packed, y).run();
}

}  // namespace tenon
