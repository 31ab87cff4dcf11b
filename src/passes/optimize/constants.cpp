#include "passes/optimize/constants.h"

#include <algorithm>
#include <cstring>

namespace tenon {

namespace {

std::optional<std::vector<int64_t>> integers_of(const Tensor& tensor) {
  if (tensor.dtype() == DType::Int64) {
    const auto elements = tensor.as<int64_t>();
    return std::vector<int64_t>(elements.begin(), elements.end());
  }
  if (tensor.dtype() != DType::Int32) return std::nullopt;
  const auto elements = tensor.as<int32_t>();
  return std::vector<int64_t>(elements.begin(), elements.end());
}

}  // namespace

std::optional<std::vector<int64_t>> known_integers(Graph& graph, ValueId v, std::string_view asker) {
  if (v == kNone) return std::nullopt;
  const GraphValue& value = graph.value(v);
  if (value.constant != kNone) {
    const Tensor* tensor = graph.ask_elements(v, asker);
    return tensor ? integers_of(*tensor) : std::nullopt;
  }
  if (!value.known || !std::ranges::all_of(*value.known, &Dim::is_constant)) return std::nullopt;
  for (ConstantId id : value.known_from) graph.note_asked(id, asker);
  std::vector<int64_t> numbers;
  for (const Dim& d : *value.known) numbers.push_back(d.value());
  return numbers;
}

std::optional<std::vector<Dim>> known_dims(Graph& graph, ValueId v, std::string_view asker) {
  if (v == kNone) return std::nullopt;
  if (const auto numbers = known_integers(graph, v, asker)) return std::vector<Dim>(numbers->begin(), numbers->end());
  const GraphValue& value = graph.value(v);
  if (!value.known) return std::nullopt;
  for (ConstantId id : value.known_from) graph.note_asked(id, asker);
  return value.known;
}

bool is_same_constant(Graph& graph, ValueId a, ValueId b, std::string_view asker) {
  if (a == b) return true;
  if (a == kNone || b == kNone || graph.value(a).type.dtype != graph.value(b).type.dtype) return false;
  const Tensor *left = graph.ask_elements(a, asker), *right = graph.ask_elements(b, asker);
  return left && right && left->dims() == right->dims() && left->dtype() != DType::String &&
         std::memcmp(left->data(), right->data(), static_cast<size_t>(left->bytes())) == 0;
}

std::optional<int64_t> count_of(const Graph& graph, ValueId v) {
  const Type& type = graph.value(v).type;
  if (!type.is_tensor() || !type.shape || !is_static(*type.shape)) return std::nullopt;
  return element_count(*type.shape).value();
}

}  // namespace tenon
