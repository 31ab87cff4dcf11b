#include <cmath>

#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// Gauss-Jordan elimination with the largest pivot of each column. m becomes the identity and r the inverse of m.
// False when m has no inverse.
bool eliminate(Scratch<double>& m, Scratch<double>& r, size_t n) {
  WorkMeter meter;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row)
      if (std::abs(m[row * n + column]) > std::abs(m[pivot * n + column])) pivot = row;
    if (m[pivot * n + column] == 0) return false;
    for (size_t k = 0; k < n; ++k) {
      std::swap(m[column * n + k], m[pivot * n + k]);
      std::swap(r[column * n + k], r[pivot * n + k]);
    }
    const double divisor = m[column * n + column];
    for (size_t k = 0; k < n; ++k) {
      m[column * n + k] /= divisor;
      r[column * n + k] /= divisor;
    }
    for (size_t row = 0; row < n; ++row) {
      meter.spend(static_cast<int64_t>(n));
      const double factor = m[row * n + column];
      if (row == column || factor == 0) continue;
      for (size_t k = 0; k < n; ++k) {
        m[row * n + k] -= factor * m[column * n + k];
        r[row * n + k] -= factor * r[column * n + k];
      }
    }
  }
  return true;
}

Status invert(KernelContext& c) {
  const size_t n = static_cast<size_t>(c.in(0).dims.back()), size = n * n;
  const size_t count = size == 0 ? 0 : static_cast<size_t>(c.in(0).size()) / size;
  return dispatch<float, double, Float16>(c.in(0).dtype, [&](auto tag) -> Status {
    using T = typename decltype(tag)::type;
    const auto x = c.in(0).as<T>(), y = c.out(0).as<T>();
    for (size_t i = 0; i < count; ++i) {
      Scratch<double> matrix, result(size, 0.0);
      for (size_t k = 0; k < size; ++k) matrix.push_back(widen(x[i * size + k]));
      for (size_t k = 0; k < n; ++k) result[k * n + k] = 1;
      if (!eliminate(matrix, result, n)) return invalid_argument("matrix {} has no inverse", i);
      for (size_t k = 0; k < size; ++k) y[i * size + k] = narrow<T>(result[k]);
    }
    return {};
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Inverse>() {
  return invert;
}

}  // namespace tenon
