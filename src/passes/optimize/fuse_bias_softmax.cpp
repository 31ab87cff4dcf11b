// A Softmax of x + bias along the last axis.
#include "ops/softmax.h"
#include "passes/normalize/same_value.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseBiasSoftmax = "fuse_bias_softmax";

struct BiasSoftmaxPattern {
  Pattern x = Pattern::any(), bias = Pattern::any();
  Pattern whole = Pattern::op(OpId::Softmax, {Pattern::op(OpId::Add, {x, bias})});
};

// The op repeats its bias over inner or over outer axes alone, never over some of both.
std::optional<bool> repeats_inside(const Shape& x, const Shape& bias) {
  if (x.size() != bias.size() || bias.back() != x.back()) return std::nullopt;
  size_t equal_from = bias.size(), equal_until = 0;
  while (equal_from > 0 && bias[equal_from - 1] == x[equal_from - 1]) --equal_from;
  while (equal_until < bias.size() && bias[equal_until] == x[equal_until]) ++equal_until;
  const auto are_ones = [&](size_t begin, size_t end) {
    return std::ranges::all_of(bias.begin() + static_cast<std::ptrdiff_t>(begin),
                               bias.begin() + static_cast<std::ptrdiff_t>(end),
                               [](const Dim& d) { return d == Dim(1); });
  };
  if (are_ones(0, equal_from)) return false;
  if (are_ones(equal_until, bias.size() - 1)) return true;
  return std::nullopt;
}

Attempt match_bias_softmax(NodeMaker& onnx, Graph& graph, NodeId root) {
  static const BiasSoftmaxPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseBiasSoftmax);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  ValueId x = (*m)[pattern.x], bias = (*m)[pattern.bias];
  const ValueId result = graph.node(root).outputs[0];
  if (!has_same_shape(graph, x, result)) std::swap(x, bias);
  const auto &shape = graph.value(x).type.shape, &added = graph.value(bias).type.shape;
  if (!has_same_shape(graph, x, result) || !added || shape->empty())
    return Attempt::no("the shapes of its summands are not known");
  if (!is_float32(graph, x)) return Attempt::no("its elements are not float32");
  const auto rank = static_cast<int64_t>(shape->size());
  const int64_t axis = graph.node(root).params.get<SoftmaxParams>().axis;
  const auto inside = repeats_inside(*shape, *added);
  if ((axis != -1 && axis != rank - 1) || !inside)
    return Attempt::no("the bias is not repeated over outer or over inner axes alone");
  return write_as(
      onnx, *m, graph, kFuseBiasSoftmax,
      {kMicrosoftDomain,
       "BiasSoftmax",
       {x, bias},
       {onnx.messages().make_int("axis", rank - 1), onnx.messages().make_int("is_inner_broadcast", *inside)}},
      {result});
}

}  // namespace

Rule fuse_bias_softmax(NodeMaker* onnx) {
  return writing_rule(kFuseBiasSoftmax, {OpId::Softmax}, onnx, match_bias_softmax);
}

}  // namespace tenon
