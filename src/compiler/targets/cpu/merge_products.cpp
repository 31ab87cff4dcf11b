// Products of the same input share one pass over it, as the projections of an attention do.
#include <algorithm>

#include "compiler/targets/cpu/claim.h"
#include "ir/readers.h"
#include "ops/concat.h"
#include "ops/packed.h"
#include "ops/split.h"

namespace tenon {

namespace {

// A packed product that nothing sets apart from its neighbours but its columns.
struct Product {
  const GraphNode* node;
  ValueId x, weight, bias;
  std::string source;  // how the weight lies
  int64_t outputs, depth;

  bool is_alike(const Product& other) const {
    return x == other.x && source == other.source && depth == other.depth && (bias == kNone) == (other.bias == kNone);
  }
};

std::optional<Product> plain_product(const Graph& graph, const GraphNode& node) {
  const GraphNode* pack = maker(graph, node.inputs[1], OpId::PackPanels);
  const auto& params = node.params.get<PackedMatMulParams>();
  const auto& shape = graph.value(node.outputs[0]).type.shape;
  const bool is_plain = pack && pack->inputs.size() == 1 && shape && !shape->empty() &&
                        params.activation.activation == ActivationParams().activation;
  if (!is_plain) return std::nullopt;
  return Product{&node,
                 node.inputs[0],
                 pack->inputs[0],
                 node.inputs.size() > 2 ? node.inputs[2] : ValueId(kNone),
                 pack->params.get<PackPanelsParams>().source,
                 params.n,
                 params.k};
}

// All products like the first, in data-flow order.
std::vector<Product> alike(const Graph& graph, const Product& first) {
  std::vector<Product> found;
  for (const Use& use : graph.value(first.x).uses) {
    if (use.kind != Use::Kind::Input || graph.node(use.node).op != OpId::PackedMatMul) continue;
    if (auto product = plain_product(graph, graph.node(use.node)); product && product->is_alike(first))
      found.push_back(*product);
  }
  std::ranges::sort(found, [&](const Product& a, const Product& b) { return graph.is_before(a.node->id, b.node->id); });
  return found;
}

// One product for several; its result is cut into theirs.
Attempt match(Graph& graph, NodeId root) {
  const auto first = plain_product(graph, graph.node(root));
  if (!first) return Attempt::none();
  const std::vector<Product> parts = alike(graph, *first);
  if (parts.size() < 2 || parts[0].node->id != root) return Attempt::none();

  auto patch = std::make_unique<Patch>(graph, root, "merge_products");
  std::vector<NodeId> nodes;
  std::vector<ValueId> weights, biases, results;
  std::vector<int64_t> widths;
  int64_t outputs = 0;
  for (const Product& part : parts) {
    nodes.push_back(part.node->id);
    weights.push_back(part.weight);
    if (part.bias != kNone) biases.push_back(part.bias);
    results.push_back(part.node->outputs[0]);
    widths.push_back(part.outputs);
    outputs += part.outputs;
  }
  const auto concat = [&](std::vector<ValueId> values, int64_t axis) {
    return patch->op(OpId::Concat, std::move(values), Params::of(ConcatParams{axis}));
  };
  // Whole panels go side by side as they are.
  const bool whole = std::all_of(widths.begin(), widths.end() - 1, [](int64_t n) { return n % kPanelWidth == 0; });
  if (whole)
    weights.insert(weights.begin() + 1, kNone);  // no scale
  else
    weights = {concat(std::move(weights), first->source == "nk" ? 0 : 1)};
  const ValueId packed =
      patch->op(OpId::PackPanels, std::move(weights), Params::of(PackPanelsParams{first->source, kPanelsLayout, 1}));
  const ValueId bias = biases.empty() ? ValueId(kNone) : concat(std::move(biases), 0);
  patch->set_name(claimed_names(graph, nodes));
  const ValueId all = patch->op(OpId::PackedMatMul, {first->x, packed, bias},
                                Params::of(PackedMatMulParams{outputs, first->depth, {}}));
  const std::vector<ValueId> cut =
      patch->ops(OpId::Split, {all, patch->integers(widths)}, Params::of(SplitParams{-1, std::nullopt}), widths.size());
  for (size_t i = 0; i < results.size(); ++i) patch->redefine(results[i], cut[i]);
  return Attempt::of(std::move(patch));
}

}  // namespace

const Rule& merge_products() {
  static const Rule rule{"merge_products", {OpId::PackedMatMul}, match};
  return rule;
}

}  // namespace tenon
