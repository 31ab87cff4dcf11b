// A Clip of a Clip or of a Relu, and a Relu of a Clip.
#include <cmath>
#include <limits>

#include "ir/readers.h"
#include "passes/optimize/pattern.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kMergeClips = "merge_clips";

struct Limits {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

std::optional<Limits> limits_of(Graph& graph, const GraphNode& node) {
  Limits limits;
  if (node.op == OpId::Relu) {
    limits.low = 0;
    return limits;
  }
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNone) continue;
    const auto number = number_of(graph, node.inputs[i], kMergeClips);
    if (!number) return std::nullopt;
    (i == 1 ? limits.low : limits.high) = *number;
  }
  return limits;
}

Attempt match_clips(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const NodeId before = graph.value(node.inputs[0]).producer;
  if (before == kNone) return Attempt::none();
  const GraphNode& inner = graph.node(before);
  const bool is_pair =
      (inner.op == OpId::Clip || inner.op == OpId::Relu) && (inner.op == OpId::Clip || node.op == OpId::Clip);
  if (!is_pair) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  if (graph.value(inner.inputs[0]).type.dtype != DType::Float32) return Attempt::no("its elements are not float32");
  const auto first = limits_of(graph, inner), second = limits_of(graph, node);
  if (!first || !second) return Attempt::no("the limits are not known");
  if (first->low > first->high || second->low > second->high || first->low > second->high || first->high < second->low)
    return Attempt::no("the limits leave one number alone");
  const double low = std::max(first->low, second->low), high = std::min(first->high, second->high);
  auto patch = std::make_unique<Patch>(graph, root, kMergeClips);
  patch->set_reason("one Clip has the limits of both");
  const auto limit = [&](double number) {
    return std::isinf(number) ? ValueId(kNone) : patch->scalar(static_cast<float>(number));
  };
  const ValueId least = limit(low), most = limit(high);
  patch->redefine(node.outputs[0], patch->op(OpId::Clip, {inner.inputs[0], least, most}));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule merge_clips() { return {kMergeClips, {OpId::Clip, OpId::Relu}, match_clips}; }

}  // namespace tenon
