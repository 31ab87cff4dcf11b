#include "ops/gemm.h"

#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/product.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// sum * factor; integers keep exact arithmetic when the factor is 1 and take the truncated real product otherwise.
template <class T>
Sum<T> scaled(Sum<T> sum, float factor) {
  if (factor == 1.0f) return sum;
  if constexpr (is_float_element<T>) {
    return sum * static_cast<double>(factor);
  } else {
    const double product = static_cast<double>(from_sum<T>(sum)) * static_cast<double>(factor);
    using Limits = std::numeric_limits<T>;
    if (std::isnan(product)) return 0;
    if (product <= static_cast<double>(Limits::min())) return to_sum(Limits::min());
    if (product >= static_cast<double>(Limits::max())) return to_sum(Limits::max());
    return to_sum(static_cast<T>(product));
  }
}

template <class T>
Status run(KernelContext& c, const GemmParams& p) {
  const TensorView &a = c.in(0), &b = c.in(1), &out = c.out(0);
  if (out.size() == 0) return {};
  const int64_t m = out.dims[0], n = out.dims[1], k = a.dims[!p.transA];
  const MatrixView<T> left{a.as<T>().data(), p.transA ? 1 : k, p.transA ? m : 1};
  const MatrixView<T> right{b.as<T>().data(), p.transB ? 1 : n, p.transB ? k : 1};
  const bool has_bias = c.has(2);
  const auto strides = has_bias ? broadcast_strides(c.in(2).dims, out.dims) : AxisList(2, 0);
  const T* bias = has_bias ? c.in(2).as<T>().data() : nullptr;
  T* y = out.as<T>().data();
  Scratch<Sum<T>> sums;
  for (int64_t i = 0; i < m; ++i) {
    TN_RETURN_IF_ERROR(c.services().check_cancelled());
    for (int64_t first = 0; first < n; first += kSumBlock) {
      const int64_t end = std::min(n, first + kSumBlock);
      sums.resize(static_cast<size_t>(end - first));
      multiply_row(left, {right.data + first * right.column, right.row, right.column}, i, k, sums);
      for (int64_t j = first; j < end; ++j) {
        Sum<T> sum = scaled<T>(sums[static_cast<size_t>(j - first)], p.alpha);
        if (has_bias) sum += scaled<T>(to_sum(bias[i * strides[0] + j * strides[1]]), p.beta);
        y[i * n + j] = from_sum<T>(sum);
      }
    }
  }
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Gemm>() {
  return [](KernelContext& c) -> Status {
    return dispatch<float, double, Float16, BFloat16, int32_t, int64_t, uint32_t, uint64_t>(
        c.out(0).dtype, [&](auto tag) { return run<typename decltype(tag)::type>(c, c.params<GemmParams>()); });
  };
}

}  // namespace tenon
