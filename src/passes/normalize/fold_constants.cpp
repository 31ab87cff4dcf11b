// What shapes, literals and structural constants decide is computed once and for all.
#include <algorithm>

#include "evaluate/evaluate.h"
#include "evaluate/expression.h"
#include "passes/normalize/rules.h"
#include "passes/normalize/structural.h"

namespace tenon {

namespace {

// A weight, however small, is the user's to replace; shapes, indices and what the graph itself says are not.
bool may_be_folded(const Constant& constant) {
  return is_structural(constant) || (constant.may_be_asked() && (constant.is_literal() || constant.from_node));
}

bool is_small(const Type& type) {
  if (!type.is_tensor() || !type.shape || !is_static(*type.shape)) return false;
  const auto bytes = storage_bytes(type.dtype, element_count(*type.shape).value());
  return bytes && *bytes <= kMostAskedBytes;
}

template <class T>
Tensor integers_as(const std::vector<Dim>& values, const std::vector<int64_t>& dims) {
  std::vector<T> elements;
  for (const Dim& d : values) elements.push_back(static_cast<T>(d.value()));
  return Tensor::of<T>(dims, elements);
}

// The elements that inference knows.
std::optional<Tensor> known_tensor(const GraphValue& value) {
  if (!value.known || !std::ranges::all_of(*value.known, &Dim::is_constant)) return std::nullopt;
  std::vector<int64_t> dims;
  for (const Dim& d : *value.type.shape) dims.push_back(d.value());
  switch (value.type.dtype) {
    case DType::Int64:
      return integers_as<int64_t>(*value.known, dims);
    case DType::Int32:
      return integers_as<int32_t>(*value.known, dims);
    default:
      return std::nullopt;
  }
}

// The elements that the weight program would compute, where only constants that may be folded decide them.
std::optional<Tensor> computed_tensor(Graph& graph, ValueId v) {
  if (!graph.value(v).folds) return std::nullopt;
  std::vector<ConstantId> from;
  for (NodeId id : nodes_behind(graph, v))
    for (ValueId operand : graph.node(id).inputs) {
      if (operand == kNone || graph.value(operand).constant == kNone) continue;
      if (!may_be_folded(*graph.constant(operand))) return std::nullopt;
      from.push_back(graph.value(operand).constant);
    }
  auto tensor = evaluate(graph, v);
  if (!tensor.ok()) return std::nullopt;
  for (ConstantId id : from) graph.note_asked(id, "fold_constants");
  return std::move(*tensor);
}

std::optional<Tensor> constant_result(Graph& graph, ValueId v) {
  const GraphValue& value = graph.value(v);
  if (!is_small(value.type)) return std::nullopt;
  if (auto tensor = known_tensor(value)) {
    for (ConstantId id : value.known_from) graph.note_asked(id, "fold_constants");
    return tensor;
  }
  return computed_tensor(graph, v);
}

Attempt match_constant_result(Graph& graph, NodeId root) {
  std::vector<std::pair<ValueId, Tensor>> results;
  for (ValueId v : graph.node(root).outputs) {
    if (v == kNone || graph.value(v).uses.empty()) continue;
    auto tensor = constant_result(graph, v);
    if (!tensor) return Attempt::none();
    results.emplace_back(v, std::move(*tensor));
  }
  if (results.empty()) return Attempt::none();
  auto patch = std::make_unique<Patch>(graph, root, "fold_constants");
  patch->set_reason("constants and shapes alone decide it");
  for (const auto& [v, tensor] : results) patch->forward(v, patch->literal(tensor));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fold_constants() { return {"fold_constants", {}, match_constant_result}; }

}  // namespace tenon
