// Products that no packed kernel takes: Gemm of two activations, and whatever is in double.
#include "providers/cpu/dense_matmul.h"

#include <algorithm>

#include "base/checked_math.h"
#include "ops/gemm.h"
#include "providers/cpu/dense_product.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/rows.h"
#include "providers/reference/indexing.h"

namespace tenon {

namespace {

constexpr int64_t kDenseRows = 96;  // of a chunk
constexpr int64_t kDensePanels = 4;

template <class T>
KernelState dense_state(Isa isa) {
  return {std::make_shared<DenseFunctions<T>>(dense_functions<T>(isa)),
          kDensePanel<T> * static_cast<int64_t>(sizeof(T))};
}

// Cuts `count` products into chunks and calls f(n, row, column, part) for each part of product n.
template <class T, class F>
void multiply_in_chunks(KernelContext& c, int64_t count, const DenseProduct<T>& whole, const F& f) {
  const auto& functions = c.state<DenseFunctions<T>>();
  const int64_t most_columns = kDensePanels * kDenseColumns<T>;
  const int64_t down = ceil_div(whole.rows, kDenseRows), across = ceil_div(whole.columns, most_columns);
  c.parallel_for(count * down * across, [&](int64_t chunk) {
    poll_cancelled();
    const int64_t row = chunk / across % down * kDenseRows, column = chunk % across * most_columns;
    DenseProduct<T> part = whole;
    part.rows = std::min(kDenseRows, whole.rows - row);
    part.columns = std::min(most_columns, whole.columns - column);
    part.packed = c.scratch<T>();
    f(functions, chunk / (down * across), row, column, part);
  });
}

template <class T>
void run_dense_gemm(KernelContext& c) {
  const auto& p = c.params<GemmParams>();
  const TensorView &a = c.in(0), &b = c.in(1), &out = c.out(0);
  const int64_t m = out.dims[0], n = out.dims[1], k = a.dims[p.transA ? 0 : 1];
  const bool has_bias = c.has(2);
  const AxisList steps = has_bias ? broadcast_strides(c.in(2).dims, out.dims) : AxisList(2, 0);
  const T* bias = has_bias ? static_cast<const T*>(c.in(2).data) : nullptr;
  const T *left = static_cast<const T*>(a.data), *right = static_cast<const T*>(b.data);
  T* y = static_cast<T*>(out.data);
  const DenseProduct<T> whole{.a_row = p.transA ? 1 : k,
                              .a_depth = p.transA ? m : 1,
                              .b_depth = p.transB ? 1 : n,
                              .b_column = p.transB ? k : 1,
                              .c_row = n,
                              .rows = m,
                              .columns = n,
                              .depth = k};
  multiply_in_chunks<T>(c, 1, whole, [&](const auto& functions, int64_t, int64_t row, int64_t column, auto& part) {
    part.a = left + row * part.a_row;
    part.b = right + column * part.b_column;
    part.c = y + row * n + column;
    functions.multiply(part);
    if (!bias && p.alpha == 1) return;
    for (int64_t i = 0; i < part.rows; ++i) {
      const T* addend = bias ? bias + (row + i) * steps[0] + column * steps[1] : nullptr;
      functions.scale(part.c + i * n, part.columns, p.alpha, addend, steps[1], p.beta);
    }
  });
}

Result<KernelState> bind_gemm(const BindRequest& request) {
  if (request.outputs[0].dtype == DType::Float32) return dense_state<float>(request.isa);
  if (request.outputs[0].dtype == DType::Float64) return dense_state<double>(request.isa);
  return error(Code::Unsupported, "its elements are neither float32 nor double");
}

Status run_gemm(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  c.out(0).dtype == DType::Float64 ? run_dense_gemm<double>(c) : run_dense_gemm<float>(c);
  return {};
}

}  // namespace

Result<KernelState> bind_double_product(const BindRequest& request) {
  if (request.outputs[0].dtype != DType::Float64) return error(Code::Unsupported, "its elements are not double");
  return dense_state<double>(request.isa);
}

Status run_double_product(KernelContext& c) {
  const TensorView &a = c.in(0), &b = c.in(1), &out = c.out(0);
  if (out.size() == 0) return {};
  const bool has_rows = a.rank() > 1, has_columns = b.rank() > 1;
  const int64_t k = a.dims.back(), m = has_rows ? a.dims[a.dims.size() - 2] : 1, n = has_columns ? b.dims.back() : 1;
  const Dims batch = out.dims.first(out.dims.size() - (has_rows ? 1 : 0) - (has_columns ? 1 : 0));
  const AxisList left = broadcast_strides(a.dims.first(a.dims.size() - (has_rows ? 2 : 1)), batch);
  const AxisList right = broadcast_strides(b.dims.first(b.dims.size() - (has_columns ? 2 : 1)), batch);
  // How far product i is into an operand, in matrices.
  const auto offset = [&](const AxisList& strides, int64_t i) {
    int64_t sum = 0;
    for (size_t axis = batch.size(); axis-- > 0; i /= batch[axis]) sum += i % batch[axis] * strides[axis];
    return sum;
  };
  const DenseProduct<double> whole{
      .a_row = k, .a_depth = 1, .b_depth = n, .b_column = 1, .c_row = n, .rows = m, .columns = n, .depth = k};
  multiply_in_chunks<double>(c, count_of(batch), whole,
                             [&](const auto& functions, int64_t i, int64_t row, int64_t column, auto& part) {
                               part.a = static_cast<const double*>(a.data) + offset(left, i) * m * k + row * k;
                               part.b = static_cast<const double*>(b.data) + offset(right, i) * k * n + column;
                               part.c = static_cast<double*>(out.data) + i * m * n + row * n + column;
                               functions.multiply(part);
                             });
  return {};
}

std::span<const Variant> gemm_variants() {
  static const auto variants = with_reference(OpId::Gemm, {{"panels", run_gemm, bind_gemm, true}});
  return variants;
}

}  // namespace tenon
