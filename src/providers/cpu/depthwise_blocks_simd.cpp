#include <array>
#include <utility>

#include "providers/cpu/depthwise_blocks.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/depthwise_blocks_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/activate_simd.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::depthwise_blocks {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
// Results at a time, at most: registers hold so many sums. The more there are, the fewer inputs are loaded twice.
constexpr int kColumns = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 14 : 8;

template <int Columns>
HWY_INLINE void begin(const DepthwiseRow& row, int64_t column, int64_t lane, V (&sums)[Columns]) {
  const D d;
  const V bias = row.bias ? hn::LoadU(d, row.bias + lane) : hn::Zero(d);
  if (row.addend) {
    const float* HWY_RESTRICT addend = row.addend + (column * 16 + lane);
#pragma GCC unroll 16
    for (int i = 0; i < Columns; ++i) sums[i] = hn::Add(bias, hn::LoadU(d, addend + i * 16));
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < Columns; ++i) sums[i] = bias;
  }
}

template <int Columns>
HWY_INLINE void end(const DepthwiseRow& row, int64_t column, int64_t lane, V (&sums)[Columns]) {
  simd::activate(D(), row.activation, sums);
  float* HWY_RESTRICT y = row.y + (column * 16 + lane);
#pragma GCC unroll 16
  for (int i = 0; i < Columns; ++i) hn::StoreU(sums[i], D(), y + i * 16);
}

// The pointer itself. Compilers would compute the offset of every input before the loop over rows, and run out of
// registers, if they knew that these are the same in all rows.
HWY_INLINE const float* here(const float* p) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  asm("" : "+r"(p));
#endif
  return p;
}

// The vector itself, in a register: compilers would load inputs again for each result that reads them.
HWY_INLINE V loaded(V v) {
#if HWY_TARGET == HWY_AVX3
  asm("" : "+v"(v.raw));
#elif HWY_TARGET == HWY_AVX2
  asm("" : "+x"(v.raw));
#endif
  return v;
}

// Inputs of a tile that may lie outside, by their places: the first and the last ones.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
// Masked lanes are not touched in memory.
using Inside = hn::Mask<D>;
HWY_INLINE Inside inside(bool is) { return hn::FirstN(D(), is ? kLanes : 0); }
HWY_INLINE V load_inside(Inside is, const float* x) { return hn::MaskedLoad(is, D(), x); }
#else
using Inside = bool;
HWY_INLINE Inside inside(bool is) { return is; }
HWY_INLINE V load_inside(Inside is, const float* x) { return is ? hn::LoadU(D(), x) : hn::Zero(D()); }
#endif

// Neighbouring results with a kernel and a stride that are known here: each input is loaded once for all results that
// read it. At an edge, fewer than Kernel inputs are missing on either side, and count as zero.
template <int Columns, int Kernel, int Stride, bool AtEdge>
HWY_ATTR void known_columns(const DepthwiseRow& row, int64_t column, int64_t lane) {
  constexpr int kInputs = (Columns - 1) * Stride + Kernel, kEdge = Kernel - 1;
  const D d;
  const int64_t first = column * Stride - row.pad;
  Inside left[kEdge], right[kEdge];
  if constexpr (AtEdge)
#pragma GCC unroll 16
    for (int i = 0; i < kEdge; ++i) {
      left[i] = inside(first + i >= 0 && first + i < row.input_columns);
      right[i] = inside(first + kInputs - kEdge + i < row.input_columns);
    }
  V sums[Columns];
  begin(row, column, lane, sums);
#pragma GCC unroll 1
  for (int64_t r = 0; r < row.rows; ++r) {
    const float* HWY_RESTRICT x = here(row.inputs[r] + (first * 16 + lane));
    const float* HWY_RESTRICT w = here(row.weights[r] + lane);
    V weights[Kernel];
#pragma GCC unroll 16
    for (int t = 0; t < Kernel; ++t) weights[t] = hn::LoadU(d, w + t * 16);
#pragma GCC unroll 64
    for (int i = 0; i < kInputs; ++i) {
      V input;
      if (AtEdge && i < kEdge)
        input = load_inside(left[i], x + i * 16);
      else if (AtEdge && i >= kInputs - kEdge)
        input = load_inside(right[i - (kInputs - kEdge)], x + i * 16);
      else
        input = loaded(hn::LoadU(d, x + i * 16));
#pragma GCC unroll 16
      for (int c = 0; c < Columns; ++c)
        if (i - c * Stride >= 0 && i - c * Stride < Kernel)
          sums[c] = hn::MulAdd(input, weights[i - c * Stride], sums[c]);
    }
  }
  end(row, column, lane, sums);
}

// Taps [first, last) of each row.
template <int Columns>
HWY_INLINE void any_columns(const DepthwiseRow& row, int64_t column, int64_t lane, int64_t first, int64_t last) {
  const D d;
  V sums[Columns];
  begin(row, column, lane, sums);
  for (int64_t r = 0; r < row.rows; ++r) {
    const float* x = row.inputs[r] + (column * row.stride - row.pad) * 16 + lane;
    for (int64_t t = first; t < last; ++t) {
      const V weight = hn::LoadU(d, row.weights[r] + t * 16 + lane);
#pragma GCC unroll 16
      for (int i = 0; i < Columns; ++i)
        sums[i] = hn::MulAdd(hn::LoadU(d, x + (i * row.stride + t * row.dilation) * 16), weight, sums[i]);
    }
  }
  end(row, column, lane, sums);
}

using Columns = void (*)(const DepthwiseRow&, int64_t column, int64_t lane);

// By the number of columns.
template <int Kernel, int Stride, bool AtEdge, int... Numbers>
constexpr std::array<Columns, kColumns + 1> columns_functions(std::integer_sequence<int, Numbers...>) {
  return {nullptr, known_columns<Numbers + 1, Kernel, Stride, AtEdge>...};
}

// Parts of about the same length: short ones do not hide the latency of their sums.
template <int Kernel, int Stride>
HWY_ATTR bool known_run(const DepthwiseRow& row) {
  if (row.dilation != 1 || row.kernel != Kernel || row.stride != Stride) return false;
  if (row.pad >= Kernel || (row.columns - 1) * Stride - row.pad >= row.input_columns) return false;
  constexpr auto kNumbers = std::make_integer_sequence<int, kColumns>();
  static constexpr auto kInside = columns_functions<Kernel, Stride, false>(kNumbers);
  static constexpr auto kAtEdge = columns_functions<Kernel, Stride, true>(kNumbers);
  const int64_t parts = (row.columns + kColumns - 1) / kColumns;
  const int64_t length = row.columns / parts, longer = row.columns % parts;
  for (int64_t lane = 0; lane < 16; lane += kLanes) {
    int64_t column = 0;
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t count = length + (part < longer ? 1 : 0);
      const int64_t first = column * Stride - row.pad, last = first + (count - 1) * Stride + Kernel;
      (first < 0 || last > row.input_columns ? kAtEdge : kInside)[count](row, column, lane);
      column += count;
    }
  }
  return true;
}

HWY_ATTR void any_run(const DepthwiseRow& row, int64_t from, int64_t to) {
  for (int64_t lane = 0; lane < 16; lane += kLanes) {
    int64_t column = from;
    for (; column + kColumns <= to; column += kColumns) any_columns<kColumns>(row, column, lane, 0, row.kernel);
    for (; column < to; ++column) any_columns<1>(row, column, lane, 0, row.kernel);
  }
}

// Results whose windows reach outside.
HWY_ATTR void edge(const DepthwiseRow& row, int64_t from, int64_t to) {
  for (int64_t column = from; column < to; ++column) {
    const auto taps = row.taps_inside(column);
    for (int64_t lane = 0; lane < 16; lane += kLanes) any_columns<1>(row, column, lane, taps.first, taps.second);
  }
}

HWY_ATTR void run(const DepthwiseRow& row) {
  if (known_run<3, 1>(row) || known_run<3, 2>(row) || known_run<5, 1>(row) || known_run<5, 2>(row)) return;
  const auto [from, to] = row.columns_inside();
  edge(row, 0, from);
  any_run(row, from, to);
  edge(row, to, row.columns);
}

DepthwiseRowFunction pick() { return run; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::depthwise_blocks
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace depthwise_blocks {
TENON_EXPORT(pick);
}
DepthwiseRowFunction depthwise_row_function(Isa isa) {
  using namespace depthwise_blocks;
  return TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
