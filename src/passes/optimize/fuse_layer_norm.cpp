// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * scale, and the sum of that with a bias.
#include "ops/normalization.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/pattern.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/widening.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseLayerNorm = "fuse_layer_norm", kBiasRule = "fuse_layer_norm_bias";
Pattern mean(const Pattern& x, const Pattern& axes) { return Pattern::op(OpId::ReduceMean, {x, axes}); }

struct LayerNormPattern {
  Pattern x = Pattern::any(), scale = Pattern::any(), epsilon = Pattern::scalar();
  Pattern axes = Pattern::any(), axes_again = Pattern::any();
  Pattern mean_of_x = mean(x, axes);
  Pattern centered = Pattern::op(OpId::Sub, {x, mean_of_x});
  Pattern square = Pattern::either(
      {Pattern::op(OpId::Pow, {centered, Pattern::number(2)}), Pattern::op(OpId::Mul, {centered, centered})});
  Pattern variance = mean(square, axes_again);
  Pattern deviation = Pattern::op(OpId::Sqrt, {Pattern::op(OpId::Add, {variance, epsilon})});
  Pattern normal = Pattern::either({Pattern::op(OpId::Div, {centered, deviation}),
                                    Pattern::op(OpId::Mul, {centered, Pattern::op(OpId::Reciprocal, {deviation})})});
  Pattern narrow = Pattern::op(OpId::Cast, {normal});
  Pattern whole = Pattern::op(OpId::Mul, {Pattern::either({normal, narrow}), scale});
};

Attempt match_layer_norm(bool is_available, Graph& graph, NodeId root) {
  static const LayerNormPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseLayerNorm);
  if (!m) return Attempt::none();
  if (!is_available) return Attempt::no("the model imports a version of ONNX without LayerNormalization");
  if (auto why = objection(graph, *m)) return std::move(*why);
  const ValueId wide = (*m)[pattern.x], scale = (*m)[pattern.scale], result = graph.node(root).outputs[0];
  const auto axis = tail_of_mean(graph, m->node(pattern.mean_of_x), wide, kFuseLayerNorm);
  if (!axis || axis != tail_of_mean(graph, m->node(pattern.variance), wide, kFuseLayerNorm))
    return Attempt::no("its means are not known to be over the last axes");
  if (!is_tail_of(graph, scale, wide, *axis)) return Attempt::no("its scale is not known to have the last extents");
  const ValueId x = before_widening(graph, wide, result, m->has(pattern.narrow));
  if (x == kNone) return Attempt::no("it is not computed in float32");
  const auto epsilon = number_of(graph, (*m)[pattern.epsilon], kFuseLayerNorm);
  if (!epsilon) return Attempt::no("its epsilon is not known");
  auto patch = std::make_unique<Patch>(graph, root, kFuseLayerNorm);
  patch->set_reason("together the nodes compute a LayerNormalization");
  const auto made = patch->ops(OpId::LayerNormalization, {x, scale},
                               Params::of(LayerNormalizationParams{*axis, static_cast<float>(*epsilon)}), 1);
  patch->redefine(result, made[0]);
  return Attempt::of(std::move(patch));
}

struct BiasPattern {
  Pattern x = Pattern::any(), scale = Pattern::any(), bias = Pattern::any();
  Pattern normal = Pattern::op(OpId::LayerNormalization, {x, scale});
  Pattern whole = Pattern::op(OpId::Add, {normal, bias});
};

Attempt match_bias(bool is_available, Graph& graph, NodeId root) {
  static const BiasPattern pattern;
  const auto m = match(graph, pattern.whole, root, kBiasRule);
  if (!m || !is_available) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  const ValueId x = (*m)[pattern.x], bias = (*m)[pattern.bias];
  const auto& params = m->params<LayerNormalizationParams>(pattern.normal);
  const auto rank = rank_of(graph, x);
  const int64_t axis = params.axis < 0 || !rank ? params.axis : params.axis - *rank;
  if (axis >= 0 || !is_tail_of(graph, bias, x, axis))
    return Attempt::no("its bias is not known to have the last extents");
  auto patch = std::make_unique<Patch>(graph, root, kBiasRule);
  patch->set_reason("a LayerNormalization adds its bias");
  const auto made = patch->ops(OpId::LayerNormalization, {x, (*m)[pattern.scale], bias}, Params::of(params), 1);
  patch->redefine(graph.node(root).outputs[0], made[0]);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_layer_norm(bool is_available) {
  return {kFuseLayerNorm, {OpId::Mul}, [=](Graph& graph, NodeId root) {
            return match_layer_norm(is_available, graph, root);
          }};
}

Rule fuse_layer_norm_bias(bool is_available) {
  return {kBiasRule, {OpId::Add}, [=](Graph& graph, NodeId root) { return match_bias(is_available, graph, root); }};
}

}  // namespace tenon
