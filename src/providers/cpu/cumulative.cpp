// Running sums and products: several lines at a time, which do not wait for each other, or columns side by side.
#include "ops/reduction.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/moved_elements.h"
#include "providers/cpu/rows.h"
#include "providers/reference/element_access.h"
#include "providers/reference/elementwise.h"

namespace tenon {

namespace {

constexpr int64_t kScannedElements = 1 << 14;  // of a chunk, at least
constexpr int64_t kScannedColumns = 1 << 10;

struct RunningSum {
  static constexpr int kStart = 0;
  template <class W>
  static W of(W running, W x) {
    if constexpr (std::is_floating_point_v<W>)
      return running + x;
    else
      return wrapping_add(running, x);
  }
};
struct RunningProduct {
  static constexpr int kStart = 1;
  template <class W>
  static W of(W running, W x) {
    if constexpr (std::is_floating_point_v<W>)
      return running * x;
    else
      return wrapping_multiply(running, x);
  }
};

struct ScanState {
  const RowFunctions* rows = nullptr;
};

Result<KernelState> bind_cumulative(const BindRequest& request) {
  return KernelState{std::make_shared<ScanState>(&row_functions(request.isa))};
}

struct Scan {
  AxisSplit split;
  bool exclusive, reverse;
  // The k-th element of a line that is gone through.
  int64_t place(int64_t k) const { return reverse ? split.extent - 1 - k : k; }
};

template <int kLines, class Op, class T>
void scan_lines(const Scan& s, const T* in, T* out) {
  std::array<Wide<T>, kLines> running;
  running.fill(static_cast<Wide<T>>(Op::kStart));
  in_pieces(s.split.extent, [&](int64_t first, int64_t end) {
    for (int64_t k = first; k < end; ++k) {
      const int64_t place = s.place(k);
      for (size_t line = 0; line < kLines; ++line) {
        const int64_t n = static_cast<int64_t>(line) * s.split.extent + place;
        const Wide<T> next = Op::of(running[line], widen(in[n]));
        out[n] = narrow<T>(s.exclusive ? running[line] : next);
        running[line] = next;
      }
    }
  });
}

template <class Op, class T>
void scan_columns(const Scan& s, const T* in, T* out, int64_t count) {
  std::array<Wide<T>, kScannedColumns> running;
  std::fill_n(running.begin(), count, static_cast<Wide<T>>(Op::kStart));
  WorkMeter meter;
  for (int64_t k = 0; k < s.split.extent; ++k) {
    meter.spend(count);
    const int64_t n = s.place(k) * s.split.inner;
    for (int64_t i = 0; i < count; ++i) {
      Wide<T>& kept = running[static_cast<size_t>(i)];
      const Wide<T> next = Op::of(kept, widen(in[n + i]));
      out[n + i] = narrow<T>(s.exclusive ? kept : next);
      kept = next;
    }
  }
}

// Sums of floats, by vectors. They are rounded to float after each element.
void sum_columns(const Scan& s, const RowFunctions& rows, const float* in, float* out, int64_t count) {
  std::array<float, kScannedColumns> running;
  const auto bytes = static_cast<size_t>(count) * sizeof(float);
  std::fill_n(running.begin(), count, 0.0f);
  WorkMeter meter;
  for (int64_t k = 0; k < s.split.extent; ++k) {
    meter.spend(count);
    const int64_t n = s.place(k) * s.split.inner;
    if (s.exclusive) {
      std::array<float, kScannedColumns> before = running;
      rows.accumulate(Accumulation::Sum, in + n, running.data(), count);
      std::memcpy(out + n, before.data(), bytes);
    } else {
      rows.accumulate(Accumulation::Sum, in + n, running.data(), count);
      std::memcpy(out + n, running.data(), bytes);
    }
  }
}

template <class Op, class T>
void scan_tensor(KernelContext& c, const Scan& s) {
  const T* in = static_cast<const T*>(c.in(0).data);
  T* out = static_cast<T*>(c.out(0).data);
  const auto [outer, extent, inner] = s.split;
  if (inner == 1) {
    in_chunks(c, outer, std::max<int64_t>(8, kScannedElements / extent), [&](int64_t first, int64_t end) {
      for (; first + 8 <= end; first += 8) scan_lines<8, Op>(s, in + first * extent, out + first * extent);
      for (; first < end; ++first) scan_lines<1, Op>(s, in + first * extent, out + first * extent);
    });
    return;
  }
  const int64_t parts = ceil_div(inner, kScannedColumns), columns = std::min(inner, kScannedColumns);
  in_chunks(c, outer * parts, kScannedElements / (extent * columns), [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) {
      const int64_t begin = i % parts * kScannedColumns, count = std::min(kScannedColumns, inner - begin);
      const int64_t start = i / parts * extent * inner + begin;
      if constexpr (std::is_same_v<Op, RunningSum> && std::is_same_v<T, float>)
        sum_columns(s, *c.state<ScanState>().rows, in + start, out + start, count);
      else
        scan_columns<Op>(s, in + start, out + start, count);
    }
  });
}

template <class Op>
Status run_cumulative(KernelContext& c) {
  const auto& p = c.params<CumulativeParams>();
  const int64_t rank = c.in(0).rank(), axis = any_integer_at(c.in(1), 0);
  if (axis < -rank || axis >= rank)
    return invalid_argument("axis {} is out of range for a tensor of rank {}", axis, rank);
  if (c.in(0).size() == 0) return {};
  const Scan scan{AxisSplit(c.in(0).dims, axis < 0 ? axis + rank : axis), p.exclusive, p.reverse};
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    scan_tensor<Op, typename decltype(tag)::type>(c, scan);
    return Status();
  });
}

}  // namespace

std::span<const Variant> cum_sum_variants() {
  static const auto variants =
      with_reference(OpId::CumSum, {{"lines", run_cumulative<RunningSum>, bind_cumulative, true}});
  return variants;
}

std::span<const Variant> cum_prod_variants() {
  static const auto variants =
      with_reference(OpId::CumProd, {{"lines", run_cumulative<RunningProduct>, bind_cumulative, true}});
  return variants;
}

}  // namespace tenon
