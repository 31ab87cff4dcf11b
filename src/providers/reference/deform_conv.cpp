#include <cmath>

#include "base/checked_math.h"
#include "ops/convolution.h"
#include "providers/reference/doubles.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// The value between grid points, linear along each axis; zero outside the grid.
double interpolate(const double* plane, Dims dims, const std::vector<double>& at) {
  const size_t rank = dims.size();
  for (size_t i = 0; i < rank; ++i)
    if (!(at[i] > -1.0 && at[i] < static_cast<double>(dims[i]))) return 0.0;  // NaN too
  double sum = 0.0;
  WorkMeter meter;
  for (size_t corner = 0; corner < size_t{1} << rank; ++corner) {
    meter.spend(static_cast<int64_t>(rank));
    double weight = 1.0;
    int64_t offset = 0;
    bool inside = true;
    for (size_t i = 0; i < rank; ++i) {
      const bool upper = corner >> i & 1;
      const double floor = std::floor(at[i]);
      const int64_t index = static_cast<int64_t>(floor) + upper;
      inside = inside && index >= 0 && index < dims[i];
      weight *= upper ? at[i] - floor : 1.0 - (at[i] - floor);
      offset = offset * dims[i] + index;
    }
    if (inside) sum += weight * plane[offset];
  }
  return sum;
}

class DeformConv {
 public:
  explicit DeformConv(KernelContext& c)
      : c_(c), p_(c.params<DeformConvParams>()), x_dims_(c.in(0).dims), w_dims_(c.in(1).dims), y_dims_(c.out(0).dims),
        rank_(x_dims_.size() - 2), kernel_(w_dims_.subspan(2)), positions_(y_dims_.subspan(2)) {
    taps_ = checked_product(kernel_).value_or(0);
    position_count_ = checked_product(positions_).value_or(0);
    plane_ = checked_product(x_dims_.subspan(2)).value_or(0);
  }

  Status run() {
    if (c_.out(0).size() == 0) return {};
    TN_ASSIGN_OR_RETURN(window_, make_window(p_.window(), rank_, kernel_));
    TN_ASSIGN_OR_RETURN(x_, read_doubles(c_, 0));
    TN_ASSIGN_OR_RETURN(w_, read_doubles(c_, 1));
    TN_ASSIGN_OR_RETURN(offset_, read_doubles(c_, 2));
    TN_ASSIGN_OR_RETURN(bias_, read_doubles(c_, 3));
    TN_ASSIGN_OR_RETURN(mask_, read_doubles(c_, 4));
    TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c_.out(0).size(), 0.0, c_.budget()));
    for (int64_t n = 0; n < x_dims_[0]; ++n)
      for (Walker<0> w(positions_, {}); w.more(); w.next())
        for (int64_t m = 0; m < w_dims_[0]; ++m)
          y[(n * w_dims_[0] + m) * position_count_ + w.position()] = value_at(n, m, w.position(), w.index());
    y.store(c_.out(0));
    return {};
  }

 private:
  double value_at(int64_t n, int64_t m, int64_t position, const std::vector<int64_t>& index) {
    const int64_t per_group = w_dims_[1], group = m / (w_dims_[0] / p_.group);
    double sum = bias_.present() ? bias_[m] : 0.0;
    for (int64_t i = 0; i < per_group; ++i) {
      const int64_t channel = group * per_group + i;
      const int64_t offset_group = n * p_.offset_group + channel / (x_dims_[1] / p_.offset_group);
      const double* plane = x_.data() + (n * x_dims_[1] + channel) * plane_;
      for (Walker<0> tap(kernel_, {}); tap.more(); tap.next()) {
        const int64_t at_tap = offset_group * taps_ + tap.position();
        const double mask = mask_.present() ? mask_[at_tap * position_count_ + position] : 1.0;
        sum += w_[(m * per_group + i) * taps_ + tap.position()] * mask *
               interpolate(plane, x_dims_.subspan(2), sample_point(index, tap.index(), at_tap, position));
      }
    }
    return sum;
  }

  std::vector<double> sample_point(const std::vector<int64_t>& index, const std::vector<int64_t>& tap, int64_t at_tap,
                                   int64_t position) {
    std::vector<double> point(rank_);
    for (size_t i = 0; i < rank_; ++i) {
      const WindowAxis& a = window_.axes[i];
      const int64_t offset_channel = at_tap * static_cast<int64_t>(rank_) + static_cast<int64_t>(i);
      point[i] = static_cast<double>(index[i] * a.stride + tap[i] * a.dilation - a.pad_begin) +
                 offset_[offset_channel * position_count_ + position];
    }
    return point;
  }

  KernelContext& c_;
  const DeformConvParams& p_;
  Dims x_dims_, w_dims_, y_dims_;
  size_t rank_;
  Dims kernel_, positions_;
  int64_t taps_ = 0, position_count_ = 0, plane_ = 0;
  Window window_;
  Doubles x_, w_, offset_, bias_, mask_;
};

}  // namespace

template <>
KernelFunction reference_kernel<OpId::DeformConv>() {
  return [](KernelContext& c) -> Status { return DeformConv(c).run(); };
}

}  // namespace tenon
