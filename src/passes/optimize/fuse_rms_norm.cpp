// x / sqrt(mean(x^2) + epsilon) * scale.
#include "ops/normalization.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/pattern.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/widening.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseRmsNorm = "fuse_rms_norm";

struct RmsNormPattern {
  Pattern x = Pattern::any(), scale = Pattern::any(), epsilon = Pattern::scalar();
  Pattern square = Pattern::either({Pattern::op(OpId::Pow, {x, Pattern::number(2)}), Pattern::op(OpId::Mul, {x, x})});
  Pattern mean = Pattern::op(OpId::ReduceMean, {square, Pattern::any()});
  Pattern shifted = Pattern::op(OpId::Add, {mean, epsilon});
  Pattern root = Pattern::op(OpId::Sqrt, {shifted});
  Pattern inverse =
      Pattern::either({Pattern::op(OpId::Reciprocal, {root}), Pattern::op(OpId::Div, {Pattern::number(1), root}),
                       Pattern::op(OpId::Pow, {shifted, Pattern::number(-0.5)})});
  Pattern normal = Pattern::either({Pattern::op(OpId::Div, {x, root}), Pattern::op(OpId::Mul, {x, inverse})});
  Pattern narrow = Pattern::op(OpId::Cast, {normal});
  Pattern whole = Pattern::op(OpId::Mul, {Pattern::either({normal, narrow}), scale});
};

Attempt match_rms_norm(Graph& graph, NodeId root) {
  static const RmsNormPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseRmsNorm);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  const ValueId wide = (*m)[pattern.x], scale = (*m)[pattern.scale], result = graph.node(root).outputs[0];
  const auto axis = tail_of_mean(graph, m->node(pattern.mean), wide, kFuseRmsNorm);
  if (!axis) return Attempt::no("its mean is not known to be over the last axes");
  if (!is_tail_of(graph, scale, wide, *axis)) return Attempt::no("its scale is not known to have the last extents");
  const ValueId x = before_widening(graph, wide, result, m->has(pattern.narrow));
  if (x == kNone) return Attempt::no("it is not computed in float32");
  const auto epsilon = number_of(graph, (*m)[pattern.epsilon], kFuseRmsNorm);
  if (!epsilon) return Attempt::no("its epsilon is not known");
  auto patch = std::make_unique<Patch>(graph, root, kFuseRmsNorm);
  patch->set_reason("together the nodes compute an RMSNormalization");
  const LayerNormalizationParams params{*axis, static_cast<float>(*epsilon)};
  patch->redefine(result, patch->op(OpId::RMSNormalization, {x, scale}, Params::of(params)));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_rms_norm() { return {kFuseRmsNorm, {OpId::Mul}, match_rms_norm}; }

}  // namespace tenon
