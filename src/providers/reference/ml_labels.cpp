#include "ops/ml_labels.h"

#include <cmath>
#include <map>

#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/text_meter.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

constexpr int64_t kUnitsPerSearch = 16;  // of the time that a key takes to be found

// Numbers by value, with all NaNs equal and last.
struct KeyOrder {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
    return a < b;
  }
};

// Where each element of x is in the keys (the first of equal ones); the number of keys when it is not there.
template <class T>
Scratch<size_t> positions_of(std::span<T> x, std::span<const T> keys) {
  std::map<T, size_t, KeyOrder> index;
  for (size_t i = 0; i < keys.size(); ++i) index.emplace(keys[i], i);
  Scratch<size_t> positions;
  WorkMeter meter;
  for (const T& element : x) {
    meter.spend(kUnitsPerSearch);
    auto it = index.find(element);
    positions.push_back(it == index.end() ? keys.size() : it->second);
  }
  return positions;
}

Status encode_labels(KernelContext& c) {
  const auto& p = c.params<LabelEncoderParams>();
  Scratch<size_t> positions;
  TN_RETURN_IF_ERROR((dispatch<float, double, int16_t, int32_t, int64_t, std::string>(c.in(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    positions = positions_of<T>(c.in(0).as<T>(), p.keys_tensor.as<T>());
    return Status();
  })));
  return dispatch_by_size(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto values = raw<T>(p.values_tensor.view()), fallback = raw<T>(p.default_tensor.view());
    auto out = raw<T>(c.out(0));
    TextMeter meter;
    for (size_t i = 0; i < out.size(); ++i)
      meter.copy(positions[i] < values.size() ? values[positions[i]] : fallback[0], out[i]);
    return Status();
  });
}

// The element as a category number; nothing for what no integer can be.
template <class T>
std::optional<int64_t> category_number(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr double limit = 9223372036854775808.0;
    if (!(x >= -limit && x < limit)) return std::nullopt;
  }
  return static_cast<int64_t>(x);
}

Status encode_one_hot(KernelContext& c) {
  const auto& p = c.params<OneHotEncoderParams>();
  auto out = c.out(0).as<float>();
  for_each_index(c.out(0).size(), [&](int64_t i) { out[static_cast<size_t>(i)] = 0.0f; });
  auto mark_all = [&](const auto& x, const auto& categories, auto key_of) -> Status {
    std::map<std::decay_t<decltype(categories[0])>, size_t> index;
    for (size_t i = 0; i < categories.size(); ++i) index[categories[i]] = i;
    WorkMeter meter;
    for (size_t i = 0; i < x.size(); ++i) {
      meter.spend(kUnitsPerSearch);
      const auto key = key_of(x[i]);
      auto it = key ? index.find(*key) : index.end();
      if (it != index.end())
        out[i * categories.size() + it->second] = 1.0f;
      else if (!p.zeros)
        return invalid_argument("X[{}] is {}, which is not one of the categories", i, x[i]);
    }
    return {};
  };
  if (c.in(0).dtype == DType::String)
    return mark_all(c.in(0).as<std::string>(), p.cats_strings, [](const std::string& s) { return &s; });
  return dispatch<float, double, int32_t, int64_t>(c.in(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return mark_all(c.in(0).as<T>(), p.cats_int64s, category_number<T>);
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::LabelEncoder>() {
  return encode_labels;
}

template <>
KernelFunction reference_kernel<OpId::OneHotEncoder>() {
  return encode_one_hot;
}

}  // namespace tenon
