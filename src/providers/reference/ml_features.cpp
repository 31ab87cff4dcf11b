#include "ops/ml_features.h"

#include <algorithm>
#include <cmath>

#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/ml_scores.h"
#include "providers/reference/text_meter.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

template <class F>
Status dispatch_ml_numbers(DType dtype, F&& f) {
  return dispatch<float, double, int32_t, int64_t>(dtype, f);
}

Status extract_features(KernelContext& c) {
  const TensorView& x = c.in(0);
  const auto indices = c.in(1).as<int64_t>();
  const int64_t features = x.dims.back();
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0 || indices[i] >= features)
      return invalid_argument("Y[{}] is {}, but X has {} features", i, indices[i], features);
  const AxisSplit split(x.dims, x.rank() - 1);
  return dispatch_by_size(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto from = raw<T>(x), to = raw<T>(c.out(0));
    size_t at = 0;
    TextMeter meter;
    for (int64_t row = 0; row < split.outer; ++row)
      for_each_index(static_cast<int64_t>(indices.size()), [&](int64_t i) {
        meter.copy(from[static_cast<size_t>(row * features + indices[static_cast<size_t>(i)])], to[at++]);
      });
    return Status();
  });
}

Status binarize(KernelContext& c) {
  const float threshold = c.params<BinarizerParams>().threshold;
  return dispatch_ml_numbers(c.in(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto x = c.in(0).as<T>();
    auto y = c.out(0).as<T>();
    for_each_index(c.in(0).size(), [&](int64_t i) {
      y[static_cast<size_t>(i)] = static_cast<double>(x[static_cast<size_t>(i)]) > threshold ? T(1) : T(0);
    });
    return Status();
  });
}

Status vectorize(KernelContext& c) {
  const auto& dimensions = c.params<FeatureVectorizerParams>().inputdimensions;
  auto out = c.out(0).as<float>();
  const size_t columns = static_cast<size_t>(c.out(0).dims[1]);
  std::fill(out.begin(), out.end(), 0.0f);
  size_t first = 0;
  for (size_t i = 0; i < c.input_count(); ++i) {
    const TensorView& x = c.in(i);
    const size_t rows = x.rank() == 1 ? 1 : static_cast<size_t>(x.dims[0]);
    if (static_cast<int64_t>(rows) != c.out(0).dims[0])
      return invalid_argument("input {} has {} rows, but input 0 has {}", i, rows, c.out(0).dims[0]);
    const Scratch<double> values = as_doubles(x);
    const size_t own = rows == 0 ? 0 : values.size() / rows;
    const size_t wanted = dimensions.empty() ? own : static_cast<size_t>(dimensions[i]);
    WorkMeter meter;
    for (size_t row = 0; row < rows; ++row, meter.spend(static_cast<int64_t>(own)))
      for (size_t k = 0; k < std::min(own, wanted); ++k)
        out[row * columns + first + k] = static_cast<float>(values[row * own + k]);
    first += wanted;
  }
  return {};
}

// NaN stands for itself.
template <class T>
bool is_replaced(T x, T replaced) {
  if constexpr (std::is_floating_point_v<T>) return x == replaced || (std::isnan(x) && std::isnan(replaced));
  return x == replaced;
}

// Values come as V (float or int64) and are used as T.
template <class T, class V>
void impute_as(KernelContext& c, V replaced) {
  const auto x = c.in(0).as<T>();
  const auto y = c.out(0).as<T>();
  const auto values = c.in(1).as<V>();
  for_each_index(c.in(0).size(), [&](int64_t element) {
    const auto i = static_cast<size_t>(element);
    const V value = values[i % values.size()];
    // An integer that T cannot hold occurs nowhere in X.
    const bool fits = static_cast<V>(static_cast<T>(replaced)) == replaced || replaced != replaced;
    y[i] = fits && is_replaced<T>(x[i], static_cast<T>(replaced)) ? static_cast<T>(value) : x[i];
  });
}

Status impute(KernelContext& c) {
  const auto& p = c.params<ImputerParams>();
  if (c.in(1).size() == 0) return invalid_argument("the list of imputed values is empty");
  switch (c.in(0).dtype) {
    case DType::Float32:
      impute_as<float>(c, p.replaced_value_float);
      return {};
    case DType::Float64:
      impute_as<double>(c, p.replaced_value_float);
      return {};
    case DType::Int32:
      impute_as<int32_t>(c, p.replaced_value_int64);
      return {};
    default:
      impute_as<int64_t>(c, p.replaced_value_int64);
      return {};
  }
}

double norm_of(std::span<const double> row, const std::string& norm) {
  if (norm == "MAX") return row.empty() ? 0 : *std::max_element(row.begin(), row.end());
  double sum = 0;
  const bool is_first = norm == "L1";
  for (double x : row) sum += is_first ? std::abs(x) : x * x;
  return norm == "L1" ? sum : std::sqrt(sum);
}

Status normalize(KernelContext& c) {
  const std::string& norm = c.params<NormalizerParams>().norm;
  const FeatureMatrix x(c.in(0));
  auto out = c.out(0).as<float>();
  WorkMeter meter;
  for (int64_t row = 0; row < x.rows; ++row) {
    meter.spend(2 * x.features);
    const double divisor = norm_of(x.row(row), norm);
    for (int64_t k = 0; k < x.features; ++k) {
      const size_t at = static_cast<size_t>(row * x.features + k);
      out[at] = static_cast<float>(divisor != 0 ? x.values[at] / divisor : x.values[at]);
    }
  }
  return {};
}

Status scale(KernelContext& c) {
  const Scratch<double> x = as_doubles(c.in(0));
  const Scratch<double> offset = c.has(1) ? as_doubles(c.in(1)) : Scratch<double>{0};
  const Scratch<double> factor = c.has(2) ? as_doubles(c.in(2)) : Scratch<double>{1};
  auto out = c.out(0).as<float>();
  if (!x.empty() && (offset.empty() || factor.empty())) return invalid_argument("offset or scale is empty");
  for_each_index(c.in(0).size(), [&](int64_t element) {
    const auto i = static_cast<size_t>(element);
    out[i] = static_cast<float>((x[i] - offset[i % offset.size()]) * factor[i % factor.size()]);
  });
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::ArrayFeatureExtractor>() {
  return extract_features;
}

template <>
KernelFunction reference_kernel<OpId::Binarizer>() {
  return binarize;
}

template <>
KernelFunction reference_kernel<OpId::FeatureVectorizer>() {
  return vectorize;
}

template <>
KernelFunction reference_kernel<OpId::Imputer>() {
  return impute;
}

template <>
KernelFunction reference_kernel<OpId::Normalizer>() {
  return normalize;
}

template <>
KernelFunction reference_kernel<OpId::Scaler>() {
  return scale;
}

}  // namespace tenon
