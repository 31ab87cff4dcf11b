#include <cmath>

#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// Gaussian elimination with the largest pivot; destroys the matrix.
double determinant(Scratch<double>& m, size_t n) {
  double result = 1;
  WorkMeter meter;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; ++i)
      if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
    if (m[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      for (size_t j = 0; j < n; ++j) std::swap(m[k * n + j], m[pivot * n + j]);
      result = -result;
    }
    result *= m[k * n + k];
    for (size_t i = k + 1; i < n; ++i) {
      meter.spend(static_cast<int64_t>(n));
      const double factor = m[i * n + k] / m[k * n + k];
      for (size_t j = k; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
  return result;
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Det>() {
  return [](KernelContext& c) -> Status {
    if (c.out(0).size() == 0) return {};  // whatever the extents of the matrices that are not there
    const auto n = static_cast<size_t>(c.in(0).dims.back());
    return dispatch_floats(c.out(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* in = static_cast<const T*>(c.in(0).data);
      Scratch<double> matrix(n * n);
      for (T& out : c.out(0).as<T>()) {
        for (double& x : matrix) x = widen(*in++);
        out = narrow<T>(determinant(matrix, n));
      }
      return Status();
    });
  };
}

}  // namespace tenon
