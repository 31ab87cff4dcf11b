// What weights alone decide is computed and becomes an initializer.
#include <algorithm>

#include "evaluate/evaluate.h"
#include "evaluate/expression.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kFoldWeights = "fold_weights";

bool folds_all(const Graph& graph, NodeId id) {
  return std::ranges::all_of(graph.node(id).outputs, [&](ValueId v) { return v == kNone || graph.value(v).folds; });
}

// Whether something reads the value that weights alone do not decide.
bool is_wanted(const Graph& graph, ValueId v) {
  return std::ranges::any_of(graph.value(v).uses, [&](const Use& use) {
    return use.kind == Use::Kind::Output || use.kind == Use::Kind::Capture ||
           (use.kind == Use::Kind::Input && !folds_all(graph, use.node));
  });
}

std::optional<int64_t> bytes_of(const Type& type) {
  if (!type.is_tensor() || !type.shape || !is_static(*type.shape)) return std::nullopt;
  return storage_bytes(type.dtype, element_count(*type.shape).value());
}

int64_t bytes_behind(const Graph& graph, ValueId v) {
  std::vector<ConstantId> seen;
  int64_t bytes = 0;
  for (NodeId id : nodes_behind(graph, v))
    for (ValueId operand : graph.node(id).inputs) {
      const ConstantId constant = operand == kNone ? ConstantId(kNone) : graph.value(operand).constant;
      if (constant == kNone || std::ranges::find(seen, constant) != seen.end()) continue;
      seen.push_back(constant);
      bytes += bytes_of(graph.value(operand).type).value_or(0);
    }
  return bytes;
}

Attempt match_weights(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  if (!folds_all(graph, root)) return Attempt::none();
  std::vector<std::pair<ValueId, Tensor>> results;
  for (ValueId v : node.outputs) {
    if (v == kNone || graph.value(v).uses.empty()) continue;
    if (!is_wanted(graph, v)) return Attempt::none();
    const auto bytes = bytes_of(graph.value(v).type);
    if (!bytes || *bytes > bytes_behind(graph, v) + kMostAskedBytes)
      return Attempt::no("its result is larger than the weights that it comes from");
    auto tensor = evaluate(graph, v);
    if (!tensor.ok()) return Attempt::no("it cannot be computed: " + tensor.status().to_string());
    results.emplace_back(v, std::move(*tensor));
  }
  if (results.empty()) return Attempt::none();
  auto patch = std::make_unique<Patch>(graph, root, kFoldWeights);
  patch->set_reason("weights alone decide it");
  for (auto& [v, tensor] : results) {
    const std::string& name = graph.value(v).name;
    patch->forward(v, graph.add_constant(Constant::of("", std::move(tensor)), name.empty() ? node.name : name));
  }
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fold_weights() { return {kFoldWeights, {}, match_weights}; }

}  // namespace tenon
