// Products of the same input share one pass over it, as the projections of an attention do. Each weight stays a slot of
// its own, so that it is shared and replaced alone.
#include <algorithm>

#include "compiler/targets/cpu/claim.h"
#include "ir/readers.h"

namespace tenon {

namespace {

// Whether a packed product is one of a single weight that has no bounds of its own.
bool is_single(const GraphNode& node) {
  return node.params.get<PackedMatMulParams>().columns.size() == 1 && node.inputs.size() <= kPackedLeast;
}

bool are_alike(const GraphNode& a, const GraphNode& b) {
  const auto &p = a.params.get<PackedMatMulParams>(), &q = b.params.get<PackedMatMulParams>();
  return a.inputs[0] == b.inputs[0] && p.k == q.k && p.activation == q.activation;
}

// All products like the first, in data-flow order.
std::vector<NodeId> alike(const Graph& graph, const GraphNode& first) {
  std::vector<NodeId> found;
  for (const Use& use : graph.value(first.inputs[0]).uses) {
    if (use.kind != Use::Kind::Input || graph.node(use.node).op != OpId::PackedMatMul) continue;
    const GraphNode& node = graph.node(use.node);
    if (is_single(node) && are_alike(node, first) && std::ranges::find(found, node.id) == found.end())
      found.push_back(node.id);
  }
  std::ranges::sort(found, [&](NodeId a, NodeId b) { return graph.is_before(a, b); });
  return found;
}

Attempt match_merge(Graph& graph, NodeId root) {
  const GraphNode& first = graph.node(root);
  if (!is_single(first)) return Attempt::none();
  const std::vector<NodeId> parts = alike(graph, first);
  if (parts.size() < 2 || parts[0] != root) return Attempt::none();

  auto patch = std::make_unique<Patch>(graph, root, "merge_products");
  PackedMatMulParams params = first.params.get<PackedMatMulParams>();
  params.columns.clear();
  std::vector<ValueId> inputs(packed_bias_input(parts.size() - 1) + 1, kNone), results;
  inputs[0] = first.inputs[0];
  for (size_t i = 0; i < parts.size(); ++i) {
    const GraphNode& part = graph.node(parts[i]);
    params.columns.push_back(part.params.get<PackedMatMulParams>().columns[0]);
    inputs[packed_weight_input(i)] = part.inputs[1];
    if (part.inputs.size() > 2) inputs[packed_bias_input(i)] = part.inputs[2];
    results.push_back(part.outputs[0]);
  }
  patch->set_name(claimed_names(graph, parts));
  const auto made = patch->ops(OpId::PackedMatMul, std::move(inputs), Params::of(std::move(params)), results.size());
  for (size_t i = 0; i < results.size(); ++i) patch->redefine(results[i], made[i]);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule merge_products() { return {"merge_products", {OpId::PackedMatMul}, match_merge}; }

}  // namespace tenon
