#include "ops/signal_window.h"

#include <cmath>
#include <numbers>

#include "base/checked_math.h"
#include "base/exact_math.h"
#include "providers/reference/convert.h"
#include "providers/reference/element_access.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// a - b cos(t) + c cos(2t) for t over one period.
Status fill_window(KernelContext& c, double a, double b, double d) {
  const TensorView& out = c.out(0);
  const int64_t size = out.size();
  const auto period = static_cast<double>(c.params<SignalWindowParams>().periodic ? size : size - 1);
  for_each_index(size, [&](int64_t i) {
    const double t = size == 1 ? 0 : 2 * std::numbers::pi * static_cast<double>(i) / period;
    store_number(out, i, size == 1 ? 1 : a - b * exact::cos(t) + d * exact::cos(2 * t));
  });
  return {};
}

double mel(double hertz) { return 2595 / exact::log(10) * exact::log(1 + hertz / 700); }
double hertz(double mel) { return 700 * (exact::pow(10, mel / 2595) - 1); }

// The spectrogram bins where the triangles begin, peak and end, one more than a triangle's share of the mel range
// apart.
Result<Scratch<int64_t>> corner_bins(KernelContext& c, int64_t bands, int64_t rows) {
  const double length = number_at(c.in(1), 0), rate = number_at(c.in(2), 0);
  if (!(rate > 0)) return invalid_argument("the sample rate is {}; it must be positive", rate);
  const double low = mel(number_at(c.in(3), 0)), high = mel(number_at(c.in(4), 0));
  const double step = (high - low) / static_cast<double>(bands + 2);
  Scratch<int64_t> bins;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double bin = std::floor((length + 1) * hertz(low + static_cast<double>(i) * step) / rate);
    if (!(bin >= 0 && bin < static_cast<double>(rows)))
      return invalid_argument("the edge frequencies need bin {}, but the spectrogram has {} bins", bin, rows);
    bins.push_back(static_cast<int64_t>(bin));
  }
  return bins;
}

Status fill_mel_matrix(KernelContext& c) {
  const TensorView& out = c.out(0);
  const int64_t rows = out.dims[0], bands = out.dims[1];
  for_each_index(out.size(), [&](int64_t i) { store_number(out, i, 0); });
  if (out.size() == 0) return {};
  TN_ASSIGN_OR_RETURN(const auto bins, corner_bins(c, bands, rows));
  for (int64_t band = 0; band < bands; ++band) {
    const int64_t left = bins[static_cast<size_t>(band)], peak = bins[static_cast<size_t>(band + 1)],
                  right = bins[static_cast<size_t>(band + 2)];
    auto set = [&](int64_t row, int64_t part, int64_t whole) {
      store_number(out, row * bands + band, static_cast<double>(part) / static_cast<double>(whole));
    };
    set(peak, 1, 1);
    for_each_index(peak - left, [&](int64_t row) { set(left + row, row, peak - left); });
    for_each_index(right - peak, [&](int64_t row) { set(peak + row, right - peak - row, right - peak); });
  }
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::HannWindow>() {
  return [](KernelContext& c) { return fill_window(c, 0.5, 0.5, 0); };
}

template <>
KernelFunction reference_kernel<OpId::HammingWindow>() {
  return [](KernelContext& c) { return fill_window(c, 25.0 / 46, 21.0 / 46, 0); };
}

template <>
KernelFunction reference_kernel<OpId::BlackmanWindow>() {
  return [](KernelContext& c) { return fill_window(c, 0.42, 0.5, 0.08); };
}

template <>
KernelFunction reference_kernel<OpId::MelWeightMatrix>() {
  return fill_mel_matrix;
}

}  // namespace tenon
