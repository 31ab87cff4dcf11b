#include <cmath>

#include "providers/reference/convert.h"
#include "providers/reference/element_access.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// Dims that broadcast against a matrix: one number per row is a column.
std::vector<int64_t> granularity_dims(const TensorView& parameter, int64_t rank, bool per_row) {
  std::vector<int64_t> dims;
  if (parameter.size() == 1) return dims;
  dims.assign(parameter.dims.begin(), parameter.dims.end());
  if (per_row && dims.size() == 1 && rank >= 2) dims.resize(2, 1);
  return dims;
}

// The operand without its zero point, as doubles: products and sums of bytes are exact in them.
Result<Tensor> centered(KernelContext& c, size_t matrix, size_t zero_point, bool per_row) {
  const TensorView& m = c.in(matrix);
  TN_ASSIGN_OR_RETURN(Tensor result, Tensor::allocate(DType::Float64, {m.dims.begin(), m.dims.end()}, c.budget()));
  const bool has_zero = c.has(zero_point);
  const auto zero_dims = has_zero ? granularity_dims(c.in(zero_point), m.rank(), per_row) : std::vector<int64_t>{};
  auto values = result.as_mutable<double>();
  for (Walker<1> w(m.dims, {broadcast_strides(zero_dims, m.dims)}); w.more(); w.next())
    values[static_cast<size_t>(w.position())] =
        number_at(m, w.position()) - (has_zero ? number_at(c.in(zero_point), w.at(0)) : 0);
  return result;
}

// The same against the product, which lacks the axis of an operand that is a vector.
std::vector<int64_t> product_dims(const TensorView& parameter, int64_t rank, bool per_row, bool other_is_vector) {
  std::vector<int64_t> dims = granularity_dims(parameter, rank, per_row);
  const size_t gone = per_row ? 1 : 2;
  if (other_is_vector && dims.size() >= gone) dims.erase(dims.end() - static_cast<int64_t>(gone));
  return dims;
}

// Calls store(position in the output, sum) for every element of a (broadcast) matrix product.
template <class Store>
void multiply(const Tensor& a, const Tensor& b, Dims out, Store store) {
  const bool vector_a = a.dims().size() == 1, vector_b = b.dims().size() == 1;
  const int64_t k = a.dims().back(), m = vector_a ? 1 : a.dims()[a.dims().size() - 2];
  const int64_t n = vector_b ? 1 : b.dims().back();
  auto batch = [](const Tensor& t) {
    const auto& d = t.dims();
    return d.size() < 2 ? std::vector<int64_t>{} : std::vector<int64_t>(d.begin(), d.end() - 2);
  };
  const std::vector<int64_t> batches(out.begin(), out.end() - !vector_a - !vector_b);
  const double *x = a.as<double>().data(), *y = b.as<double>().data();
  WorkMeter meter;
  for (Walker<2> w(batches, {broadcast_strides(batch(a), batches), broadcast_strides(batch(b), batches)}); w.more();
       w.next()) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        meter.spend(k + 1);
        double sum = 0;
        for (int64_t p = 0; p < k; ++p) sum += x[(w.at(0) * m + i) * k + p] * y[(w.at(1) * k + p) * n + j];
        store((w.position() * m + i) * n + j, sum);
      }
    }
  }
}

Status multiply_integers(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  TN_ASSIGN_OR_RETURN(const Tensor a, centered(c, 0, 2, true));
  TN_ASSIGN_OR_RETURN(const Tensor b, centered(c, 1, 3, false));
  auto out = c.out(0).as<int32_t>();
  multiply(a, b, c.out(0).dims, [&](int64_t i, double sum) {
    out[static_cast<size_t>(i)] = static_cast<int32_t>(static_cast<int64_t>(sum));
  });
  return {};
}

// Inputs: a, scale, zero point; b, scale, zero point; the result's scale and zero point.
Status multiply_quantized(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  TN_ASSIGN_OR_RETURN(const Tensor a, centered(c, 0, 2, true));
  TN_ASSIGN_OR_RETURN(const Tensor b, centered(c, 3, 5, false));
  const TensorView& out = c.out(0);
  const auto result_scale = static_cast<float>(number_at(c.in(6), 0));
  const double zero = number_at(c.in(7), 0);
  const int64_t rank_a = c.in(0).rank(), rank_b = c.in(3).rank();
  Walker<2> scales(out.dims, {broadcast_strides(product_dims(c.in(1), rank_a, true, rank_b == 1), out.dims),
                              broadcast_strides(product_dims(c.in(4), rank_b, false, rank_a == 1), out.dims)});
  // The product visits the output in order, so the scales walk along.
  return dispatch<int8_t, uint8_t, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* y = static_cast<T*>(out.data);
    multiply(a, b, out.dims, [&](int64_t i, double sum) {
      const float factor = static_cast<float>(number_at(c.in(1), scales.at(0))) *
                           static_cast<float>(number_at(c.in(4), scales.at(1))) / result_scale;
      scales.next();
      if constexpr (is_float_element<T>)
        y[i] = T(sum * factor + zero);
      else
        y[i] = saturate_to<T>(std::nearbyint(sum * factor) + zero);
    });
    return Status();
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::MatMulInteger>() {
  return multiply_integers;
}

template <>
KernelFunction reference_kernel<OpId::QLinearMatMul>() {
  return multiply_quantized;
}

}  // namespace tenon
