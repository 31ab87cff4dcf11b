// Multiplying by two numbers, and dividing by one.
#include <cmath>

#include "ir/readers.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/pattern.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kDivRule = "multiply_by_inverse", kMergeRule = "merge_scales";

// A number that multiplies float32 elements without changing their shape.
std::optional<float> factor_of(Graph& graph, ValueId x, ValueId factor, std::string_view rule) {
  const auto rank = rank_of(graph, factor), wanted = rank_of(graph, x);
  if (!is_float32(graph, x) || !rank || (*rank > 0 && (!wanted || *rank > *wanted))) return std::nullopt;
  const auto number = number_of(graph, factor, rule);
  const bool is_usable = number && std::isnormal(*number) && std::isnormal(static_cast<float>(1 / *number));
  return is_usable ? std::optional(static_cast<float>(*number)) : std::nullopt;
}

Attempt match_div(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const ValueId x = node.inputs[0], divisor = node.inputs[1];
  if (graph.value(divisor).constant == kNone || graph.value(x).folds) return Attempt::none();
  const auto number = factor_of(graph, x, divisor, kDivRule);
  if (!number) return Attempt::no("its divisor is not known to be one number of float32");
  auto patch = std::make_unique<Patch>(graph, root, kDivRule);
  patch->set_reason("multiplying by the inverse is faster");
  patch->redefine(node.outputs[0], patch->op(OpId::Mul, {x, patch->scalar(1 / *number)}));
  return Attempt::of(std::move(patch));
}

struct ScalesPattern {
  Pattern x = Pattern::any(), first = Pattern::scalar(), second = Pattern::scalar();
  Pattern whole = Pattern::op(OpId::Mul, {Pattern::op(OpId::Mul, {x, first}), second});
};

Attempt match_scales(Graph& graph, NodeId root) {
  static const ScalesPattern pattern;
  const auto m = match(graph, pattern.whole, root, kMergeRule);
  if (!m || graph.value((*m)[pattern.x]).folds) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  const ValueId x = (*m)[pattern.x];
  const auto first = factor_of(graph, x, (*m)[pattern.first], kMergeRule);
  const auto second = factor_of(graph, x, (*m)[pattern.second], kMergeRule);
  if (!first || !second || !std::isnormal(*first * *second))
    return Attempt::no("its factors are not known to be numbers of float32");
  auto patch = std::make_unique<Patch>(graph, root, kMergeRule);
  patch->set_reason("one factor does what two do");
  patch->redefine(graph.node(root).outputs[0], patch->op(OpId::Mul, {x, patch->scalar(*first * *second)}));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule multiply_by_inverse() { return {kDivRule, {OpId::Div}, match_div}; }
Rule merge_scales() { return {kMergeRule, {OpId::Mul}, match_scales}; }

}  // namespace tenon
