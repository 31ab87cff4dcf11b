#include "providers/reference/taps.h"

#include <algorithm>

#include "base/checked_math.h"
#include "providers/reference/indexing.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

class TapVisitor {
 public:
  TapVisitor(const Window& window, Dims dense, Dims strided, const TapFunction& f)
      : window_(window), dense_(dense), strided_(strided), dense_strides_(row_major_strides(dense)),
        strided_strides_(row_major_strides(strided)), chosen_(window.rank()), f_(f) {}

  // Tap numbers wrap around for windows that no weights stand behind.
  Status visit(size_t axis, uint64_t tap_number) {
    if (axis == window_.rank()) {
      collect_rows();
      return f_(static_cast<int64_t>(tap_number), rows_);
    }
    const WindowAxis& a = window_.axes[axis];
    // Later positions see earlier taps, so the union of their tap ranges grows as positions go down.
    int64_t next = 0;
    for (int64_t p = dense_[axis]; p-- > 0;) {
      const auto [first, last] = a.taps_inside(p, strided_[axis]);
      for (int64_t t = std::max(next, first); t < last; ++t) {
        chosen_[axis] = meeting(a, t, dense_[axis], strided_[axis]);
        TN_RETURN_IF_ERROR(visit(axis + 1, tap_number * static_cast<uint64_t>(a.kernel) + static_cast<uint64_t>(t)));
      }
      next = std::max(next, last);
    }
    return {};
  }

 private:
  struct Meeting {
    int64_t tap, first, last;  // dense positions [first, last)
  };

  static Meeting meeting(const WindowAxis& a, int64_t tap, int64_t dense, int64_t strided) {
    const int64_t shift = a.pad_begin - tap * a.dilation;
    return {tap, std::max<int64_t>(0, ceil_div(shift, a.stride)),
            std::min(dense, floor_div(strided - 1 + shift, a.stride) + 1)};
  }

  void collect_rows() {
    rows_.assign(1, TapRow{});
    for (size_t axis = 0; axis < window_.rank(); ++axis) {
      const WindowAxis& a = window_.axes[axis];
      const Meeting& m = chosen_[axis];
      auto at = [&](TapRow row, int64_t p) {
        row.dense += p * dense_strides_[axis];
        row.strided += (p * a.stride + m.tap * a.dilation - a.pad_begin) * strided_strides_[axis];
        return row;
      };
      if (axis + 1 == window_.rank()) {
        for (TapRow& row : rows_) {
          row = at(row, m.first);
          row.length = m.last - m.first;
        }
        return;
      }
      next_rows_.clear();
      for (const TapRow& row : rows_)
        for (int64_t p = m.first; p < m.last; ++p) next_rows_.push_back(at(row, p));
      rows_.swap(next_rows_);
    }
  }

  const Window& window_;
  Dims dense_, strided_;
  std::vector<int64_t> dense_strides_, strided_strides_;
  Scratch<Meeting> chosen_;
  Scratch<TapRow> rows_, next_rows_;
  const TapFunction& f_;
};

}  // namespace

Status for_each_tap(const Window& window, Dims dense, Dims strided, const TapFunction& f) {
  return TapVisitor(window, dense, strided, f).visit(0, 0);
}

}  // namespace tenon
