#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/product.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// Dims with the batch part apart from the matrix part; vectors become one-row or one-column matrices.
struct MatrixBatch {
  std::vector<int64_t> batch;
  int64_t rows, columns;
  static MatrixBatch left(Dims d) {
    if (d.size() == 1) return {{}, 1, d[0]};
    return {{d.begin(), d.end() - 2}, d[d.size() - 2], d[d.size() - 1]};
  }
  static MatrixBatch right(Dims d) {
    if (d.size() == 1) return {{}, d[0], 1};
    return {{d.begin(), d.end() - 2}, d[d.size() - 2], d[d.size() - 1]};
  }
};

template <class T>
Status multiply(KernelServices& services, const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k) {
  Scratch<Sum<T>> sums;
  for (int64_t i = 0; i < m; ++i) {
    TN_RETURN_IF_ERROR(services.check_cancelled());
    for (int64_t first = 0; first < n; first += kSumBlock) {
      sums.resize(static_cast<size_t>(std::min(n - first, kSumBlock)));
      multiply_row<T>({a, k, 1}, {b + first, n, 1}, i, k, sums);
      std::ranges::transform(sums, c + i * n + first, from_sum<T>);
    }
  }
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::MatMul>() {
  return [](KernelContext& c) -> Status {
    if (c.out(0).size() == 0) return {};
    const MatrixBatch a = MatrixBatch::left(c.in(0).dims), b = MatrixBatch::right(c.in(1).dims);
    const int64_t m = a.rows, n = b.columns, k = a.columns;
    const Dims out = c.out(0).dims;
    const std::vector<int64_t> batch(out.begin(), out.end() - (c.in(0).rank() > 1) - (c.in(1).rank() > 1));
    return dispatch<float, double, Float16, BFloat16, int32_t, int64_t, uint32_t, uint64_t>(
        c.out(0).dtype, [&](auto tag) -> Status {
          using T = typename decltype(tag)::type;
          for (Walker<2> w(batch, {broadcast_strides(a.batch, batch), broadcast_strides(b.batch, batch)}); w.more();
               w.next())
            TN_RETURN_IF_ERROR(multiply(c.services(), static_cast<const T*>(c.in(0).data) + w.at(0) * m * k,
                                        static_cast<const T*>(c.in(1).data) + w.at(1) * k * n,
                                        static_cast<T*>(c.out(0).data) + w.position() * m * n, m, n, k));
          return {};
        });
  };
}

}  // namespace tenon
