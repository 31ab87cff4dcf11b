#pragma once

#include <algorithm>

#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/scratch.h"

// Sums of products: floats in double, integers modulo 2^64, of which the element type keeps the low bits.
namespace tenon {

template <class T>
using Sum = std::conditional_t<is_float_element<T>, double, uint64_t>;

template <class T>
Sum<T> to_sum(T x) {
  return static_cast<Sum<T>>(x);
}
template <class T>
T from_sum(Sum<T> x) {
  return static_cast<T>(x);
}

// A matrix somewhere in memory: element (i, j) is at i * row + j * column.
template <class T>
struct MatrixView {
  const T* data;
  int64_t row, column;
  Sum<T> at(int64_t i, int64_t j) const { return to_sum(data[i * row + j * column]); }
};

// Columns of a product that are summed up at a time: one row may be all there is, and its sums need not lie in memory
// all at once.
inline constexpr int64_t kSumBlock = 1 << 16;

// Row i of a * b into sums, where a has k columns and b as many columns as there are sums, at most kSumBlock.
template <class T>
void multiply_row(const MatrixView<T>& a, const MatrixView<T>& b, int64_t i, int64_t k, Scratch<Sum<T>>& sums) {
  const int64_t n = static_cast<int64_t>(sums.size());
  std::fill(sums.begin(), sums.end(), Sum<T>(0));
  Sum<T>* out = sums.data();
  WorkMeter meter;
  // Either way each sum adds its products in the order of k; the loops follow the memory of b.
  if (b.column == 1) {
    for (int64_t p = 0; p < k; ++p) {
      meter.spend(n);
      const Sum<T> factor = a.at(i, p);
      for (int64_t j = 0; j < n; ++j) out[j] += factor * b.at(p, j);
    }
  } else {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t first = 0; first < k; first += kSumBlock) {
        const int64_t end = std::min(k, first + kSumBlock);
        meter.spend(end - first);
        for (int64_t p = first; p < end; ++p) out[j] += a.at(i, p) * b.at(p, j);
      }
    }
  }
}

}  // namespace tenon
