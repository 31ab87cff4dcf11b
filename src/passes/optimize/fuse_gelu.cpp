// x * (1 + erf(x / sqrt(2))) / 2, with the half anywhere in the product.
#include <numbers>

#include "ops/activation.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/pattern.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseGelu = "fuse_gelu";

struct GeluPattern {
  Pattern x = Pattern::any();
  Pattern whole = make();

  Pattern make() const {
    const auto op = [](OpId id, const Pattern& a, const Pattern& b) { return Pattern::op(id, {a, b}); };
    const auto halved = [&](const Pattern& v) {
      return Pattern::either({op(OpId::Mul, v, Pattern::number(0.5)), op(OpId::Div, v, Pattern::number(2))});
    };
    const Pattern reduced = Pattern::either({op(OpId::Div, x, Pattern::number(std::numbers::sqrt2)),
                                             op(OpId::Mul, x, Pattern::number(1 / std::numbers::sqrt2))});
    const Pattern gate = op(OpId::Add, Pattern::op(OpId::Erf, {reduced}), Pattern::number(1));
    return Pattern::either(
        {op(OpId::Mul, halved(x), gate), op(OpId::Mul, x, halved(gate)), halved(op(OpId::Mul, x, gate))});
  }
};

Attempt match_gelu(Graph& graph, NodeId root) {
  static const GeluPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseGelu);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  if (!is_float32(graph, (*m)[pattern.x])) return Attempt::no("its elements are not float32");
  auto patch = std::make_unique<Patch>(graph, root, kFuseGelu);
  patch->set_reason("together the nodes compute a Gelu");
  patch->redefine(graph.node(root).outputs[0], patch->op(OpId::Gelu, {(*m)[pattern.x]}));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_gelu() { return {kFuseGelu, {OpId::Mul, OpId::Div}, match_gelu}; }

}  // namespace tenon
