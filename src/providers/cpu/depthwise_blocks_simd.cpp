#include "providers/cpu/depthwise_blocks.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/depthwise_blocks_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::depthwise_blocks {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
// Results at a time: as many as hide the latency of their sums.
constexpr int kColumns = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 8 : 6;

template <int Columns>
HWY_INLINE void begin(const DepthwiseRow& row, int64_t column, int64_t lane, V (&sums)[Columns]) {
  const D d;
  const V bias = row.bias ? hn::LoadU(d, row.bias + lane) : hn::Zero(d);
#pragma GCC unroll 8
  for (int i = 0; i < Columns; ++i)
    sums[i] = row.addend ? hn::Add(bias, hn::LoadU(d, row.addend + (column + i) * 16 + lane)) : bias;
}

template <int Columns>
HWY_INLINE void end(const DepthwiseRow& row, int64_t column, int64_t lane, V (&sums)[Columns]) {
#pragma GCC unroll 8
  for (int i = 0; i < Columns; ++i) hn::StoreU(sums[i], D(), row.y + (column + i) * 16 + lane);
}

// Neighbouring results whose windows lie inside, with a kernel and a stride that are known here: each input is loaded
// once for all results that read it.
template <int Columns, int Kernel, int Stride>
HWY_INLINE void known_columns(const DepthwiseRow& row, int64_t column, int64_t lane) {
  const D d;
  V sums[Columns];
  begin(row, column, lane, sums);
#pragma GCC unroll 1
  for (int64_t r = 0; r < row.rows; ++r) {
    const float* x = row.inputs[r] + (column * Stride - row.pad) * 16 + lane;
    V weights[Kernel];
#pragma GCC unroll 8
    for (int t = 0; t < Kernel; ++t) weights[t] = hn::LoadU(d, row.weights[r] + t * 16 + lane);
#pragma GCC unroll 32
    for (int i = 0; i < (Columns - 1) * Stride + Kernel; ++i) {
      const V input = hn::LoadU(d, x + i * 16);
#pragma GCC unroll 8
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
#pragma GCC unroll 8
      for (int i = 0; i < Columns; ++i)
        sums[i] = hn::MulAdd(hn::LoadU(d, x + (i * row.stride + t * row.dilation) * 16), weight, sums[i]);
    }
  }
  end(row, column, lane, sums);
}

template <int Kernel, int Stride>
HWY_ATTR void known_run(const DepthwiseRow& row, int64_t from, int64_t to) {
  for (int64_t lane = 0; lane < 16; lane += kLanes) {
    int64_t column = from;
    for (; column + kColumns <= to; column += kColumns) known_columns<kColumns, Kernel, Stride>(row, column, lane);
    for (; column + 2 <= to; column += 2) known_columns<2, Kernel, Stride>(row, column, lane);
    for (; column < to; ++column) known_columns<1, Kernel, Stride>(row, column, lane);
  }
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
  const auto [from, to] = row.columns_inside();
  edge(row, 0, from);
  if (row.dilation == 1 && row.kernel == 3 && row.stride == 1)
    known_run<3, 1>(row, from, to);
  else if (row.dilation == 1 && row.kernel == 3 && row.stride == 2)
    known_run<3, 2>(row, from, to);
  else if (row.dilation == 1 && row.kernel == 5 && row.stride == 1)
    known_run<5, 1>(row, from, to);
  else if (row.dilation == 1 && row.kernel == 5 && row.stride == 2)
    known_run<5, 2>(row, from, to);
  else
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
