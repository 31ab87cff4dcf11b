#include "providers/cpu/simd_targets.h"
#include "providers/cpu/winograd.h"
#include "providers/winograd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/winograd_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

// One axis of a tile's inputs to its points, as kInput of the matrices has it.
HWY_INLINE void input_axis(const V (&d)[4], V (&p)[4]) {
  p[0] = hn::Sub(d[0], d[2]);
  p[1] = hn::Add(d[1], d[2]);
  p[2] = hn::Sub(d[2], d[1]);
  p[3] = hn::Sub(d[1], d[3]);
}
HWY_INLINE void input_axis(const V (&d)[6], V (&p)[6]) {
  const V two = hn::Set(D(), 2.0f), four = hn::Set(D(), 4.0f), five = hn::Set(D(), 5.0f);
  p[0] = hn::MulAdd(four, d[0], hn::NegMulAdd(five, d[2], d[4]));
  const V even = hn::NegMulAdd(four, d[2], d[4]), odd = hn::NegMulAdd(four, d[1], d[3]);
  p[1] = hn::Add(even, odd);
  p[2] = hn::Sub(even, odd);
  const V sum = hn::Sub(d[4], d[2]), difference = hn::Sub(d[3], d[1]);
  p[3] = hn::MulAdd(two, difference, sum);
  p[4] = hn::NegMulAdd(two, difference, sum);
  p[5] = hn::MulAdd(four, d[1], hn::NegMulAdd(five, d[3], d[5]));
}

// One axis of a tile's points to its outputs, as kOutput of the matrices has it.
HWY_INLINE void output_axis(const V (&p)[4], V (&y)[2]) {
  y[0] = hn::Add(hn::Add(p[0], p[1]), p[2]);
  y[1] = hn::Sub(hn::Sub(p[1], p[2]), p[3]);
}
HWY_INLINE void output_axis(const V (&p)[6], V (&y)[4]) {
  const V two = hn::Set(D(), 2.0f), four = hn::Set(D(), 4.0f), eight = hn::Set(D(), 8.0f);
  const V near_sum = hn::Add(p[1], p[2]), near_difference = hn::Sub(p[1], p[2]);
  const V far_sum = hn::Add(p[3], p[4]), far_difference = hn::Sub(p[3], p[4]);
  y[0] = hn::Add(hn::Add(p[0], near_sum), far_sum);
  y[1] = hn::MulAdd(two, far_difference, near_difference);
  y[2] = hn::MulAdd(four, far_sum, near_sum);
  y[3] = hn::MulAdd(eight, far_difference, hn::Add(near_difference, p[5]));
}

template <int Outputs>
HWY_ATTR TENON_HOT void to_points(const float* from, int64_t row_stride, int64_t tiles, float* to, int64_t point_stride,
                                  int64_t tile_stride) {
  constexpr int kEdge = Outputs + 2;
  const D d;
  HWY_ALIGN float half[kEdge][kEdge][kLanes];  // [column][point row]
  for (int64_t tile = 0; tile < tiles; ++tile)
    for (int lane = 0; lane < 16; lane += kLanes) {
      const float* x = from + tile * Outputs * 16 + lane;
      float* y = to + tile * tile_stride + lane;
      for (int column = 0; column < kEdge; ++column) {
        V rows[kEdge], points[kEdge];
#pragma GCC unroll 6
        for (int i = 0; i < kEdge; ++i) rows[i] = hn::LoadU(d, x + i * row_stride + column * 16);
        input_axis(rows, points);
#pragma GCC unroll 6
        for (int i = 0; i < kEdge; ++i) hn::Store(points[i], d, half[column][i]);
      }
      for (int row = 0; row < kEdge; ++row) {
        V columns[kEdge], points[kEdge];
#pragma GCC unroll 6
        for (int i = 0; i < kEdge; ++i) columns[i] = hn::Load(d, half[i][row]);
        input_axis(columns, points);
#pragma GCC unroll 6
        for (int i = 0; i < kEdge; ++i) hn::StoreU(points[i], d, y + (row * kEdge + i) * point_stride);
      }
    }
}

template <int Outputs>
HWY_ATTR TENON_HOT void to_outputs(const float* from, int64_t point_stride, int64_t tile_stride, int64_t tiles,
                                   const float* bias, float* to, int64_t row_stride) {
  constexpr int kEdge = Outputs + 2;
  const D d;
  HWY_ALIGN float half[kEdge][Outputs][kLanes];  // [point column][output row]
  for (int64_t tile = 0; tile < tiles; ++tile)
    for (int lane = 0; lane < 16; lane += kLanes) {
      const float* x = from + tile * tile_stride + lane;
      float* y = to + tile * Outputs * 16 + lane;
      const V term = bias ? hn::LoadU(d, bias + lane) : hn::Zero(d);
      for (int column = 0; column < kEdge; ++column) {
        V points[kEdge], outputs[Outputs];
#pragma GCC unroll 6
        for (int i = 0; i < kEdge; ++i) points[i] = hn::LoadU(d, x + (i * kEdge + column) * point_stride);
        output_axis(points, outputs);
#pragma GCC unroll 4
        for (int i = 0; i < Outputs; ++i) hn::Store(outputs[i], d, half[column][i]);
      }
      for (int row = 0; row < Outputs; ++row) {
        V points[kEdge], outputs[Outputs];
#pragma GCC unroll 6
        for (int i = 0; i < kEdge; ++i) points[i] = hn::Load(d, half[i][row]);
        output_axis(points, outputs);
#pragma GCC unroll 4
        for (int i = 0; i < Outputs; ++i)
          hn::StoreU(bias ? hn::Add(outputs[i], term) : outputs[i], d, y + row * row_stride + i * 16);
      }
    }
}

// Filters are transformed in double, without contraction, and rounded once.
#if HWY_HAVE_FLOAT64
using Wide = hn::CappedTag<double, 8>;
using WideV = hn::Vec<Wide>;
constexpr int kWideLanes = static_cast<int>(hn::MaxLanes(Wide()));
using Narrow = hn::Rebind<float, Wide>;
HWY_INLINE WideV widen(const float* from) { return hn::PromoteTo(Wide(), hn::LoadU(Narrow(), from)); }
#endif

// matrix[row] times a column, zeros left out, from left to right.
template <int Edge>
HWY_INLINE WideV sum_of(const double (&matrix)[3], const WideV (&column)[3]) {
  WideV total = hn::Zero(Wide());
  bool is_first = true;
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
    if (matrix[k] == 0) continue;
    const WideV product = hn::Mul(hn::Set(Wide(), matrix[k]), column[k]);
    total = is_first ? product : hn::Add(total, product);
    is_first = false;
  }
  return total;
}

template <int Outputs, bool Streaming>
HWY_INLINE void pack_filters(const float* from, int64_t from_stride, int64_t channels, float* to,
                             int64_t point_stride) {
  constexpr int kEdge = Outputs + 2;
  constexpr auto& kMatrix = WinogradMatrices<Outputs>::kFilter;
  const D d;
  HWY_ALIGN float points[kEdge * kEdge][16];
  for (int64_t c = 0; c < channels; ++c, from += from_stride, to += 16) {
    for (int lane = 0; lane < 16; lane += kWideLanes) {
      WideV half[kEdge][3];
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j) {
        const WideV column[3] = {widen(from + j * 16 + lane), widen(from + (3 + j) * 16 + lane),
                                 widen(from + (6 + j) * 16 + lane)};
#pragma GCC unroll 6
        for (int i = 0; i < kEdge; ++i) half[i][j] = sum_of<kEdge>(kMatrix[i], column);
      }
#pragma GCC unroll 6
      for (int i = 0; i < kEdge; ++i)
#pragma GCC unroll 6
        for (int j = 0; j < kEdge; ++j)
          hn::Store(hn::DemoteTo(Narrow(), sum_of<kEdge>(kMatrix[j], half[i])), Narrow(), points[i * kEdge + j] + lane);
    }
    for (int p = 0; p < kEdge * kEdge; ++p)
      for (int lane = 0; lane < 16; lane += kLanes) {
        const V v = hn::Load(d, points[p] + lane);
        if constexpr (Streaming)
          hn::Stream(v, d, to + p * point_stride + lane);
        else
          hn::StoreU(v, d, to + p * point_stride + lane);
      }
  }
}

template <int Outputs>
HWY_ATTR void pack(const float* from, int64_t from_stride, int64_t channels, bool streaming, float* to,
                   int64_t point_stride) {
  if (streaming)
    pack_filters<Outputs, true>(from, from_stride, channels, to, point_stride);
  else
    pack_filters<Outputs, false>(from, from_stride, channels, to, point_stride);
  if (streaming) hwy::FlushStream();
}

template <int Outputs>
const WinogradKernels& kernels() {
  static const WinogradKernels made{&to_points<Outputs>, &to_outputs<Outputs>, &pack<Outputs>};
  return made;
}
const WinogradKernels& kernels2() { return kernels<2>(); }
const WinogradKernels& kernels4() { return kernels<4>(); }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::winograd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace winograd {
TENON_EXPORT(kernels2);
TENON_EXPORT(kernels4);
}  // namespace winograd
const WinogradKernels& winograd_kernels(Isa isa, int64_t outputs) {
  using namespace winograd;
  return outputs == 2 ? TENON_DISPATCH(kernels2, isa)() : TENON_DISPATCH(kernels4, isa)();
}
}  // namespace tenon
#endif
