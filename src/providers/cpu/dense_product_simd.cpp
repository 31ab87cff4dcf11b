#include <algorithm>
#include <cstring>

#include "providers/cpu/dense_product.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/dense_product_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/simd_rest.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::dense {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
template <class T>
constexpr int kVectors = static_cast<int>(kDenseColumns<T> / kVector<T>);
// As many sums as the registers hold.
template <class T>
constexpr int kRows = kVectors<T> <= 2   ? 8
                      : kVectors<T> <= 4 ? 3
                                         : 1;

// Some rows of a packed panel: element (k, j) of B at b[k * b_depth + j].
template <class T>
struct Strip {
  const T* a;
  int64_t a_row, a_depth;
  const T* b;
  int64_t b_depth, depth;
  T* c;
  int64_t c_row;
  bool accumulate;
};

template <int R, class T>
HWY_INLINE void multiply_strip(const Strip<T>& s) {
  constexpr int kAcross = kVectors<T>;
  const Tag<T> d;
  const T* HWY_RESTRICT a = s.a;
  const T* HWY_RESTRICT b = s.b;
  const int64_t a_row = s.a_row, a_depth = s.a_depth, b_depth = s.b_depth;
  hn::Vec<Tag<T>> sums[R][kAcross];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 16
    for (int v = 0; v < kAcross; ++v)
      sums[i][v] = s.accumulate ? hn::LoadU(d, s.c + i * s.c_row + v * kVector<T>) : hn::Zero(d);
#pragma GCC unroll 1
  for (int64_t k = 0; k < s.depth; ++k) {
    // The shorter side stays in registers.
    if constexpr (R < kAcross) {
      hn::Vec<Tag<T>> left[R];
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) left[i] = hn::Set(d, a[i * a_row]);
#pragma GCC unroll 16
      for (int v = 0; v < kAcross; ++v) {
        const auto right = hn::LoadU(d, b + v * kVector<T>);
#pragma GCC unroll 16
        for (int i = 0; i < R; ++i) sums[i][v] = hn::MulAdd(left[i], right, sums[i][v]);
      }
    } else {
      hn::Vec<Tag<T>> right[kAcross];
#pragma GCC unroll 16
      for (int v = 0; v < kAcross; ++v) right[v] = hn::LoadU(d, b + v * kVector<T>);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        const auto left = hn::Set(d, a[i * a_row]);
#pragma GCC unroll 16
        for (int v = 0; v < kAcross; ++v) sums[i][v] = hn::MulAdd(left, right[v], sums[i][v]);
      }
    }
    a += a_depth;
    b += b_depth;
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 16
    for (int v = 0; v < kAcross; ++v) hn::StoreU(sums[i][v], d, s.c + i * s.c_row + v * kVector<T>);
}

template <int R, class T>
HWY_ATTR void multiply_rest(const Strip<T>& s, int64_t rows) {
  if (rows == R) return multiply_strip<R>(s);
  if constexpr (R > 1) multiply_rest<R - 1>(s, rows);
}

// All rows of a panel. Where it has fewer columns than a panel, sums have a place beside the result.
template <class T>
HWY_ATTR void multiply_panel(Strip<T> s, int64_t rows, int64_t columns) {
  constexpr int64_t kMost = kRows<T>;
  HWY_ALIGN T rest[kRows<T> * kDenseColumns<T>] = {};
  for (int64_t row = 0; row < rows; row += kMost) {
    const int64_t count = HWY_MIN(kMost, rows - row);
    if (columns == kDenseColumns<T>) {
      multiply_rest<kRows<T>>(s, count);
    } else {
      Strip<T> beside = s;
      beside.c = rest;
      beside.c_row = kDenseColumns<T>;
      const size_t bytes = static_cast<size_t>(columns) * sizeof(T);
      for (int64_t i = 0; i < count && s.accumulate; ++i)
        std::memcpy(rest + i * kDenseColumns<T>, s.c + i * s.c_row, bytes);
      multiply_rest<kRows<T>>(beside, count);
      for (int64_t i = 0; i < count; ++i) std::memcpy(s.c + i * s.c_row, rest + i * kDenseColumns<T>, bytes);
    }
    s.a += kMost * s.a_row;
    s.c += kMost * s.c_row;
  }
}

template <class T>
void pack_panel(const T* b, int64_t b_depth, int64_t b_column, int64_t depth, int64_t columns, T* packed) {
  if (columns < kDenseColumns<T>) std::fill_n(packed, depth * kDenseColumns<T>, T(0));
  if (b_column == 1) {
    for (int64_t k = 0; k < depth; ++k)
      std::memcpy(packed + k * kDenseColumns<T>, b + k * b_depth, static_cast<size_t>(columns) * sizeof(T));
    return;
  }
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t k = 0; k < depth; ++k) packed[k * kDenseColumns<T> + j] = b[j * b_column + k * b_depth];
}

template <class T>
HWY_ATTR void multiply(const DenseProduct<T>& p) {
  for (int64_t column = 0; column < p.columns; column += kDenseColumns<T>) {
    const int64_t columns = HWY_MIN(kDenseColumns<T>, p.columns - column);
    // Few rows do not pay for packing.
    const bool packs = p.b_column != 1 || columns < kDenseColumns<T> || p.rows > 2 * kRows<T>;
    for (int64_t begin = 0; begin == 0 || begin < p.depth; begin += kDenseDepth) {
      const int64_t depth = HWY_MIN(kDenseDepth, p.depth - begin);
      const T* b = p.b + begin * p.b_depth + column * p.b_column;
      if (packs) pack_panel(b, p.b_depth, p.b_column, depth, columns, p.packed);
      multiply_panel<T>({.a = p.a + begin * p.a_depth,
                         .a_row = p.a_row,
                         .a_depth = p.a_depth,
                         .b = packs ? p.packed : b,
                         .b_depth = packs ? kDenseColumns<T> : p.b_depth,
                         .depth = depth,
                         .c = p.c + column,
                         .c_row = p.c_row,
                         .accumulate = begin > 0},
                        p.rows, columns);
    }
  }
}

template <class T>
HWY_ATTR void scale(T* y, int64_t count, T factor, const T* c, int64_t c_step, T c_factor) {
  const Tag<T> d;
  const auto by = hn::Set(d, factor), c_by = hn::Set(d, c_factor);
  const auto scaled = [&](auto value, auto addend)
                          HWY_ATTR { return c ? hn::MulAdd(addend, c_by, hn::Mul(value, by)) : hn::Mul(value, by); };
  int64_t i = 0;
  const auto same = hn::Set(d, c ? c[0] : T(0));
  for (; i + kVector<T> <= count; i += kVector<T>) {
    const auto addend = c && c_step == 1 ? hn::LoadU(d, c + i) : same;
    hn::StoreU(scaled(hn::LoadU(d, y + i), addend), d, y + i);
  }
  if (i == count) return;
  const auto addend = c && c_step == 1 ? simd::load_rest(d, c + i, count - i) : same;
  simd::store_rest(d, scaled(simd::load_rest(d, y + i, count - i), addend), y + i, count - i);
}

template <class T>
constexpr DenseFunctions<T> kFunctions{multiply<T>, scale<T>};

const DenseFunctions<float>& floats() { return kFunctions<float>; }
const DenseFunctions<double>& doubles() { return kFunctions<double>; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::dense
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace dense {
TENON_EXPORT(floats);
TENON_EXPORT(doubles);
}  // namespace dense
template <>
const DenseFunctions<float>& dense_functions<float>(Isa isa) {
  using namespace dense;
  return TENON_DISPATCH(floats, isa)();
}
template <>
const DenseFunctions<double>& dense_functions<double>(Isa isa) {
  using namespace dense;
  return TENON_DISPATCH(doubles, isa)();
}
}  // namespace tenon
#endif
