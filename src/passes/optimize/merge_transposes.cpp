// A Transpose of a Transpose.
#include "ir/readers.h"
#include "ops/transpose.h"
#include "passes/optimize/permutation.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kMergeTransposes = "merge_transposes";

Attempt match_transposes(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* inner = maker(graph, node.inputs[0], OpId::Transpose);
  if (!inner) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  const auto first = permutation_of(graph, *inner), second = permutation_of(graph, node);
  if (!first || !second) return Attempt::no("the number of its axes is not known");
  auto patch = std::make_unique<Patch>(graph, root, kMergeTransposes);
  patch->set_reason("one Transpose does what two do");
  patch->redefine(node.outputs[0], patch->op(OpId::Transpose, {inner->inputs[0]},
                                             Params::of(TransposeParams{one_after_another(*first, *second)})));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule merge_transposes() { return {kMergeTransposes, {OpId::Transpose}, match_transposes}; }

}  // namespace tenon
