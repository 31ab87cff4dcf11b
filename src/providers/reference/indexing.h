#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/small_list.h"
#include "providers/reference/work_meter.h"
#include "tensor/tensor.h"

// Walking over dense row-major tensors.
namespace tenon {

// One number for each axis; most tensors have few.
using AxisList = SmallList<int64_t, 8>;

// Elements between neighbours along each axis.
inline AxisList row_major_strides(Dims dims) {
  AxisList strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// Strides that walk a tensor of dims `from` under the broadcast shape `to`: 0 along repeated axes.
inline AxisList broadcast_strides(Dims from, Dims to) {
  AxisList own = row_major_strides(from), strides(to.size(), 0);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) strides[to.size() - from.size() + i] = own[i];
  return strides;
}

// Visits every index of a shape in row-major order, with the offsets of N operands kept up to date. Ends the kernel
// when its run is cancelled.
//   for (Walker<2> w(dims, {strides_a, strides_b}); w.more(); w.next()) use(a[w.at(0)], b[w.at(1)]);
template <size_t N>
class Walker {
 public:
  Walker(Dims dims, const std::array<AxisList, N>& strides) : dims_(dims), strides_(strides), index_(dims.size(), 0) {
    for (int64_t d : dims) more_ = more_ && d > 0;
  }
  bool more() const { return more_; }
  int64_t at(size_t operand) const { return offsets_[operand]; }
  int64_t position() const { return position_; }  // row-major number of the current index
  const AxisList& index() const { return index_; }
  void next() {
    ++position_;
    meter_.spend();
    for (size_t axis = dims_.size(); axis-- > 0;) {
      for (size_t n = 0; n < N; ++n) offsets_[n] += strides_[n][axis];
      if (++index_[axis] < dims_[axis]) return;
      for (size_t n = 0; n < N; ++n) offsets_[n] -= strides_[n][axis] * dims_[axis];
      index_[axis] = 0;
    }
    more_ = false;
  }

 private:
  Dims dims_;
  std::array<AxisList, N> strides_;
  AxisList index_;
  std::array<int64_t, N> offsets_{};
  int64_t position_ = 0;
  bool more_ = true;
  WorkMeter meter_;
};

// The extents before, at and after an axis, for kernels that work along one axis.
struct AxisSplit {
  int64_t outer = 1, extent = 1, inner = 1;
  AxisSplit(Dims dims, int64_t axis) {
    for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
      (i < axis ? outer : i == axis ? extent : inner) *= dims[static_cast<size_t>(i)];
  }
};

}  // namespace tenon
