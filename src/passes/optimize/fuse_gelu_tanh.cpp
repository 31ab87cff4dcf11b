// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2, with the half anywhere in the product.
#include <numbers>

#include "ops/activation.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/pattern.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseGeluTanh = "fuse_gelu_tanh";
constexpr double kCubic = 0.044715;

struct TanhGeluPattern {
  Pattern x = Pattern::any();
  Pattern whole = make();

  Pattern make() const {
    const auto mul = [](const Pattern& a, const Pattern& b) { return Pattern::op(OpId::Mul, {a, b}); };
    const auto halved = [&](const Pattern& v) { return mul(v, Pattern::number(0.5)); };
    const Pattern square = mul(x, x);
    const Pattern cube = Pattern::either({Pattern::op(OpId::Pow, {x, Pattern::number(3)}), mul(square, x)});
    const Pattern bent = Pattern::op(OpId::Add, {x, mul(cube, Pattern::number(kCubic))});
    // The same with x taken out: x * (1 + 0.044715 * x^2).
    const Pattern factored = mul(x, Pattern::op(OpId::Add, {mul(square, Pattern::number(kCubic)), Pattern::number(1)}));
    const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    const Pattern scaled =
        Pattern::either({mul(bent, Pattern::number(scale)), mul(factored, Pattern::number(scale)),
                         mul(mul(x, Pattern::number(scale)),
                             Pattern::op(OpId::Add, {mul(square, Pattern::number(kCubic)), Pattern::number(1)}))});
    const Pattern gate = Pattern::op(OpId::Add, {Pattern::op(OpId::Tanh, {scaled}), Pattern::number(1)});
    return Pattern::either({mul(halved(x), gate), mul(x, halved(gate)), halved(mul(x, gate))});
  }
};

Attempt match_tanh_gelu(Graph& graph, NodeId root) {
  static const TanhGeluPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseGeluTanh);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  if (!is_float32(graph, (*m)[pattern.x])) return Attempt::no("its elements are not float32");
  auto patch = std::make_unique<Patch>(graph, root, kFuseGeluTanh);
  patch->set_reason("together the nodes compute a Gelu by tanh");
  const ValueId made = patch->op(OpId::Gelu, {(*m)[pattern.x]}, Params::of(GeluParams{"tanh"}));
  patch->redefine(graph.node(root).outputs[0], made);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_gelu_tanh() { return {kFuseGeluTanh, {OpId::Mul}, match_tanh_gelu}; }

}  // namespace tenon
