#include "ops/ml_maps.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/text_meter.h"
#include "providers/reference/work_meter.h"
#include "tensor/text_memory.h"

namespace tenon {

namespace {

Result<const Map*> map_input(KernelContext& c) {
  const Map* map = c.boxed(0) ? c.boxed(0)->map() : nullptr;
  if (!map) return invalid_argument("input 0 is not a map");
  return map;
}

template <class Key>
const std::vector<Key>& keys_of(const Map& map) {
  if constexpr (std::is_same_v<Key, std::string>)
    return map.string_keys;
  else
    return map.int_keys;
}

// A number at the beginning of a text, without regard to the host's locale.
template <class T>
Result<T> parse_number(const std::string& text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  while (begin != end && (*begin == ' ' || (*begin >= '\t' && *begin <= '\r'))) ++begin;
  if (begin != end && *begin == '+') ++begin;
  T value{};
  if (std::from_chars(begin, end, value).ec != std::errc()) return invalid_argument("'{}' is not a number", text);
  return value;
}

template <class To>
Result<To> cast_value(const std::string& from) {
  if constexpr (std::is_same_v<To, std::string>)
    return from;
  else
    return parse_number<To>(from);
}
template <class To>
Result<To> cast_value(float from) {
  if constexpr (std::is_same_v<To, std::string>) {
    return fmt::format("{:f}", from);
  } else if constexpr (std::is_same_v<To, int64_t>) {
    constexpr float limit = 9223372036854775808.0f;
    if (!(from >= -limit && from < limit)) return invalid_argument("{} does not fit into int64", from);
    return static_cast<int64_t>(from);
  } else {
    return from;
  }
}

// The element that a sparse form has where no key is.
template <class T>
T padding() {
  if constexpr (std::is_same_v<T, std::string>)
    return "0.f";
  else
    return T();
}

template <class From, class To>
Status cast_elements(KernelContext& c, const Map& map) {
  std::map<int64_t, size_t> order;
  for (size_t i = 0; i < map.int_keys.size(); ++i) order[map.int_keys[i]] = i;
  const auto values = map.values.as<From>();
  const auto& p = c.params<CastMapParams>();
  const bool dense = p.map_form == "DENSE";
  TN_ASSIGN_OR_RETURN(TensorView view, c.allocate(0, {1, dense ? static_cast<int64_t>(order.size()) : p.max_map}));
  auto out = view.as<To>();
  if (!dense) std::fill(out.begin(), out.end(), padding<To>());
  size_t position = 0;
  for (const auto& [key, i] : order) {
    if (!dense && key < 0) return invalid_argument("the key {} is not a position in a sparse map", key);
    if (!dense && key >= p.max_map) break;
    TN_ASSIGN_OR_RETURN(out[dense ? position++ : static_cast<size_t>(key)], cast_value<To>(values[i]));
  }
  return {};
}

Status cast_map(KernelContext& c) {
  TN_ASSIGN_OR_RETURN(const Map* map, map_input(c));
  if (map->key != DType::Int64) return invalid_argument("the map must have integer keys");
  return dispatch<float, int64_t, std::string>(c.out(0).dtype, [&](auto tag) {
    using To = typename decltype(tag)::type;
    return dispatch<float, std::string>(
        map->values.dtype(), [&](auto from) { return cast_elements<typename decltype(from)::type, To>(c, *map); });
  });
}

template <class Key, class T>
void look_up(const Map& map, const std::vector<Key>& vocabulary, std::span<T> out) {
  std::map<Key, size_t> index;
  const auto& keys = keys_of<Key>(map);
  for (size_t i = 0; i < keys.size(); ++i) index[keys[i]] = i;
  const auto values = raw<T>(map.values.view());
  TextMeter meter;
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    auto it = index.find(vocabulary[i]);
    if (it == index.end())
      out[i] = T();
    else
      meter.copy(values[it->second], out[i]);
  }
}

Status vectorize_dictionary(KernelContext& c) {
  const auto& p = c.params<DictVectorizerParams>();
  TN_ASSIGN_OR_RETURN(const Map* map, map_input(c));
  if ((map->key == DType::String) == p.string_vocabulary.empty())
    return invalid_argument("the map has {} keys, but the vocabulary has keys of another type", dtype_name(map->key));
  return dispatch_by_size(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (p.string_vocabulary.empty())
      look_up(*map, p.int64_vocabulary, raw<T>(c.out(0)));
    else
      look_up(*map, p.string_vocabulary, raw<T>(c.out(0)));
    return Status();
  });
}

// Columns by their key, in the order of keys; the last of equal keys counts.
template <class Key>
std::map<Key, size_t> sorted_columns(const std::vector<Key>& labels) {
  std::map<Key, size_t> columns;
  for (size_t i = 0; i < labels.size(); ++i) columns[labels[i]] = i;
  return columns;
}

constexpr size_t kUnitsPerRow = 64;   // of the time that a map takes to be made
constexpr size_t kBytesPerRow = 512;  // of the map, its lists and what the heap adds to each

template <class Key>
Result<Value> zip_rows(KernelContext& c, const std::vector<Key>& labels) {
  const auto columns = sorted_columns(labels);
  // Every row has keys of its own, in a map of its own.
  int64_t key_bytes = static_cast<int64_t>(kBytesPerRow + columns.size() * sizeof(Key));
  if constexpr (std::is_same_v<Key, std::string>)
    for (const auto& [label, column] : columns) key_bytes += static_cast<int64_t>(label.size());
  const auto x = c.in(0).as<float>();
  Sequence rows;
  rows.element = Type::map(dtype_of<Key>, Type::tensor(DType::Float32, Shape{}));
  WorkMeter meter;
  for (size_t first = 0; first + labels.size() <= x.size(); first += labels.size()) {
    meter.spend(static_cast<int64_t>(kUnitsPerRow + labels.size()));
    Map map;
    map.key = dtype_of<Key>;
    TN_ASSIGN_OR_RETURN(map.values,
                        Tensor::allocate(DType::Float32, {static_cast<int64_t>(columns.size())}, c.budget()));
    TN_ASSIGN_OR_RETURN(map.values, with_charge(map.values, key_bytes, c.budget()));
    size_t at = 0;
    for (const auto& [label, column] : columns) {
      if constexpr (std::is_same_v<Key, std::string>)
        map.string_keys.push_back(label);
      else
        map.int_keys.push_back(label);
      map.values.template as_mutable<float>()[at++] = x[first + column];
    }
    rows.items.push_back(Value(std::move(map)));
  }
  return Value(std::move(rows));
}

Status zip_map(KernelContext& c) {
  const auto& p = c.params<ZipMapParams>();
  TN_ASSIGN_OR_RETURN(Value rows, p.classlabels_strings.empty() ? zip_rows(c, p.classlabels_int64s)
                                                                : zip_rows(c, p.classlabels_strings));
  c.set(0, std::move(rows));
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::CastMap>() {
  return cast_map;
}

template <>
KernelFunction reference_kernel<OpId::DictVectorizer>() {
  return vectorize_dictionary;
}

template <>
KernelFunction reference_kernel<OpId::ZipMap>() {
  return zip_map;
}

}  // namespace tenon
