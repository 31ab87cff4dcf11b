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

// Where output n meets channel c at the first point.
int64_t filter_index(int64_t n, int64_t c, int64_t channels) {
  return (n / kPanelWidth * channels + c) * kPanelWidth + n % kPanelWidth;
}

template <int Outputs>
void pack(const TensorView& weight, const float* scale, std::span<float> to) {
  constexpr int kEdge = Outputs + 2;
  const int64_t outputs = weight.dims[0], channels = weight.dims[1];
  const int64_t point_size = ceil_div(outputs, kPanelWidth) * channels * kPanelWidth;
  const float* from = weight.as<float>().data();
  WorkMeter meter;
  // Outputs that fill up the last panel have filters of zeros.
  for (int64_t n = 0; n < ceil_div(outputs, kPanelWidth) * kPanelWidth; ++n) {
    meter.spend(channels * 9);
    for (int64_t c = 0; c < channels; ++c) {
      double filter[3][3], points[kEdge][kEdge];
      for (int i = 0; i < 9; ++i) {
        const float value = n < outputs ? from[(n * channels + c) * 9 + i] : 0.0f;
        filter[i / 3][i % 3] = scale && n < outputs ? value * scale[n] : value;
      }
      transform(WinogradMatrices<Outputs>::kFilter, filter, points);
      for (int p = 0; p < kEdge * kEdge; ++p)
        to[static_cast<size_t>(p * point_size + filter_index(n, c, channels))] =
            static_cast<float>(points[p / kEdge][p % kEdge]);
    }
  }
}

template <int Outputs>
class Convolution {
 public:
  Convolution(const ConvGeometry& geometry, const double* x, const float* packed, double* y)
      : g_(geometry), x_(x), packed_(packed), y_(y),
        point_size_(ceil_div(g_.dense_channels, kPanelWidth) * g_.strided_channels * kPanelWidth) {}

  void run() {
    WorkMeter meter;
    for (int64_t image = 0; image < g_.batch; ++image)
      for (int64_t n = 0; n < g_.dense_channels; ++n)
        for (int64_t row = 0; row < g_.dense[0]; row += Outputs)
          for (int64_t column = 0; column < g_.dense[1]; column += Outputs) {
            meter.spend(g_.strided_channels * kEdge * kEdge);
            tile(image, n, row, column);
          }
  }

 private:
  static constexpr int kEdge = Outputs + 2;

  double input(const double* plane, int64_t row, int64_t column) const {
    if (row < 0 || column < 0 || row >= g_.strided[0] || column >= g_.strided[1]) return 0;
    return plane[row * g_.strided[1] + column];
  }

  void tile(int64_t image, int64_t n, int64_t row, int64_t column) {
    const int64_t top = row - g_.window.axes[0].pad_begin, left = column - g_.window.axes[1].pad_begin;
    double products[kEdge][kEdge] = {};
    for (int64_t c = 0; c < g_.strided_channels; ++c) {
      const double* plane = x_ + (image * g_.strided_channels + c) * g_.strided[0] * g_.strided[1];
      double values[kEdge][kEdge], points[kEdge][kEdge];
      for (int i = 0; i < kEdge; ++i)
        for (int j = 0; j < kEdge; ++j) values[i][j] = input(plane, top + i, left + j);
      transform(WinogradMatrices<Outputs>::kInput, values, points);
      for (int p = 0; p < kEdge * kEdge; ++p)
        products[p / kEdge][p % kEdge] +=
            points[p / kEdge][p % kEdge] * double{packed_[p * point_size_ + filter_index(n, c, g_.strided_channels)]};
    }
    double results[Outputs][Outputs];
    transform(WinogradMatrices<Outputs>::kOutput, products, results);
    double* plane = y_ + (image * g_.dense_channels + n) * g_.dense[0] * g_.dense[1];
    for (int64_t i = 0; i < std::min<int64_t>(Outputs, g_.dense[0] - row); ++i)
      for (int64_t j = 0; j < std::min<int64_t>(Outputs, g_.dense[1] - column); ++j)
        plane[(row + i) * g_.dense[1] + column + j] += results[i][j];
  }

  const ConvGeometry& g_;
  const double* x_;
  const float* packed_;
  double* y_;
  const int64_t point_size_;
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
