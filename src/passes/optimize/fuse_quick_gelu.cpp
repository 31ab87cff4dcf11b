// x * sigmoid(alpha * x). Without a factor, alpha is 1.
#include "ops/activation.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/pattern.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseQuickGelu = "fuse_quick_gelu";

struct SwishPattern {
  Pattern x = Pattern::any(), alpha = Pattern::scalar();
  Pattern whole = Pattern::op(
      OpId::Mul, {x, Pattern::op(OpId::Sigmoid, {Pattern::either({Pattern::op(OpId::Mul, {x, alpha}), x})})});
};

Attempt match_swish(Graph& graph, NodeId root) {
  static const SwishPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseQuickGelu);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  if (!is_float32(graph, (*m)[pattern.x])) return Attempt::no("its elements are not float32");
  SwishParams params;
  if (m->has(pattern.alpha)) {
    const auto alpha = number_of(graph, (*m)[pattern.alpha], kFuseQuickGelu);
    if (!alpha) return Attempt::no("its factor is not known");
    params.alpha = static_cast<float>(*alpha);
  }
  auto patch = std::make_unique<Patch>(graph, root, kFuseQuickGelu);
  patch->set_reason("together the nodes compute x * sigmoid(alpha * x)");
  patch->redefine(graph.node(root).outputs[0], patch->op(OpId::Swish, {(*m)[pattern.x]}, Params::of(params)));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_quick_gelu() { return {kFuseQuickGelu, {OpId::Mul}, match_swish}; }

}  // namespace tenon
