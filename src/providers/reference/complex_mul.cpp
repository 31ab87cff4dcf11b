#include "ops/complex_mul.h"

#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"

namespace tenon {

namespace {

// Pairs instead of numbers: the dims and strides without the last axis.
std::vector<int64_t> pair_strides(Dims from, Dims to) {
  std::vector<int64_t> strides = broadcast_strides(from, to);
  strides.pop_back();
  return strides;
}

Status multiply(KernelContext& c) {
  const TensorView &a = c.in(0), &b = c.in(1), &out = c.out(0);
  const double sign = c.params<ComplexMulParams>().conjugate ? -1 : 1;
  const Dims pairs = out.dims.first(out.dims.size() - 1);
  return dispatch<float, double, Float16>(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = static_cast<const T*>(a.data);
    const T* y = static_cast<const T*>(b.data);
    T* z = static_cast<T*>(out.data);
    for (Walker<2> w(pairs, {pair_strides(a.dims, out.dims), pair_strides(b.dims, out.dims)}); w.more(); w.next()) {
      const double real_a = widen(x[w.at(0)]), imaginary_a = widen(x[w.at(0) + 1]);
      const double real_b = widen(y[w.at(1)]), imaginary_b = sign * widen(y[w.at(1) + 1]);
      z[2 * w.position()] = narrow<T>(real_a * real_b - imaginary_a * imaginary_b);
      z[2 * w.position() + 1] = narrow<T>(real_a * imaginary_b + imaginary_a * real_b);
    }
    return Status();
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::ComplexMul>() {
  return multiply;
}

}  // namespace tenon
