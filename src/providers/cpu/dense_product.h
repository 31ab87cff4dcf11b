#pragma once

#include <cstdint>

#include "providers/provider.h"

// Products of two matrices that lie anyhow in memory, of floats or doubles. Each sum adds its products in the order of
// the depth, however the work is cut.
namespace tenon {

inline constexpr int64_t kDenseDepth = 256;  // steps whose part of B is packed at a time
template <class T>
inline constexpr int64_t kDenseColumns = 128 / static_cast<int64_t>(sizeof(T));  // of a packed panel
template <class T>
inline constexpr int64_t kDensePanel = kDenseDepth * kDenseColumns<T>;

// C = A * B. Steps are in elements; neighbours in a row of C are neighbours in memory.
template <class T>
struct DenseProduct {
  const T* a = nullptr;
  int64_t a_row = 0, a_depth = 1;
  const T* b = nullptr;
  int64_t b_depth = 0, b_column = 1;
  T* c = nullptr;
  int64_t c_row = 0;
  int64_t rows = 0, columns = 0, depth = 0;
  T* packed = nullptr;  // kDensePanel elements to work with
};

template <class T>
struct DenseFunctions {
  void (*multiply)(const DenseProduct<T>&) = nullptr;
  // y = y * factor + c[i * c_step] * c_factor, where c_step is 0 or 1; c may be null.
  void (*scale)(T* y, int64_t count, T factor, const T* c, int64_t c_step, T c_factor) = nullptr;
};

template <class T>
const DenseFunctions<T>& dense_functions(Isa isa);
template <>
const DenseFunctions<float>& dense_functions<float>(Isa isa);
template <>
const DenseFunctions<double>& dense_functions<double>(Isa isa);

}  // namespace tenon
