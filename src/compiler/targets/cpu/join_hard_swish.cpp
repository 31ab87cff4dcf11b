// x * clip(x + 3, 0, 6) / 6, with the division anywhere in the product, and x * HardSigmoid(x) with its slope and
// offset: what exporters write for HardSwish.
#include "compiler/targets/cpu/claim.h"
#include "ops/activation.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/pattern.h"

namespace tenon {

namespace {

constexpr std::string_view kJoinHardSwish = "join_hard_swish";

struct HardSwishPattern {
  Pattern x = Pattern::any();
  Pattern sigmoid = Pattern::op(OpId::HardSigmoid, {x});
  Pattern whole = make();

  Pattern make() const {
    const auto op = [](OpId id, const Pattern& a, const Pattern& b) { return Pattern::op(id, {a, b}); };
    const auto sixth = [&](const Pattern& v) {
      return Pattern::either({op(OpId::Div, v, Pattern::number(6)), op(OpId::Mul, v, Pattern::number(1.0 / 6))});
    };
    const Pattern gate =
        Pattern::op(OpId::Clip, {op(OpId::Add, x, Pattern::number(3)), Pattern::number(0), Pattern::number(6)});
    return Pattern::either({op(OpId::Mul, x, sigmoid), op(OpId::Mul, x, sixth(gate)), op(OpId::Mul, sixth(x), gate),
                            sixth(op(OpId::Mul, x, gate))});
  }
};

Attempt match_hard_swish(Graph& graph, NodeId root) {
  static const HardSwishPattern pattern;
  const auto m = match(graph, pattern.whole, root, kJoinHardSwish);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  if (!is_float32(graph, (*m)[pattern.x])) return Attempt::no("its elements are not float32");
  if (m->has(pattern.sigmoid)) {
    const auto& p = m->params<HardSigmoidParams>(pattern.sigmoid);
    if (p.alpha != 1.0f / 6 || p.beta != 0.5f) return Attempt::no("its HardSigmoid is another one");
  }
  auto patch = std::make_unique<Patch>(graph, root, kJoinHardSwish);
  patch->set_reason("together the nodes compute a HardSwish");
  patch->redefine(graph.node(root).outputs[0], patch->op(OpId::HardSwish, {(*m)[pattern.x]}));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule join_hard_swish() { return {kJoinHardSwish, {OpId::Mul, OpId::Div}, match_hard_swish}; }

}  // namespace tenon
