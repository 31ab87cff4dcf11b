// The normalization of a sum with a skip connection, where a bias may be added as well. The sum may be read elsewhere:
// it is a result of the fused ops, too.
#include "ops/normalization.h"
#include "passes/normalize/same_value.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

struct Form {
  std::string_view rule, op_type;
  OpId op;
  bool has_beta;
};
constexpr Form kLayer{"fuse_skip_layer_norm", "SkipLayerNormalization", OpId::LayerNormalization, true};
constexpr Form kRms{"fuse_skip_rms_norm", "SkipSimplifiedLayerNormalization", OpId::RMSNormalization, false};

struct SkipPattern {
  explicit SkipPattern(const Form& form)
      : whole(form.has_beta ? Pattern::op(form.op, {sum, gamma, maybe(beta)}) : Pattern::op(form.op, {sum, gamma})) {}
  Pattern x = Pattern::any(), skip = Pattern::any(), gamma = Pattern::any(), beta = Pattern::any();
  Pattern bias = Pattern::weight();
  Pattern sum = Pattern::either({Pattern::op(OpId::Add, {Pattern::op(OpId::Add, {x, skip}), bias}),
                                 Pattern::op(OpId::Add, {Pattern::op(OpId::Add, {x, bias}), skip}),
                                 Pattern::op(OpId::Add, {x, skip})});
  Pattern whole;
};

bool has_one_result(const Graph& graph, const GraphNode& node) {
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNone && !graph.value(node.outputs[i]).uses.empty()) return false;
  return true;
}

bool has_rows(const Graph& graph, ValueId x, std::initializer_list<ValueId> rows) {
  return std::ranges::all_of(rows, [&](ValueId v) { return v == kNone || is_tail_of(graph, v, x, -1); });
}

bool is_about_last_axis(const Graph& graph, const LayerNormalizationParams& params, ValueId x) {
  const auto rank = rank_of(graph, x);
  return params.stash_type == DType::Float32 && rank && (*rank == 2 || *rank == 3) &&
         (params.axis == -1 || params.axis == *rank - 1);
}

Attempt match_skip(NodeMaker& onnx, Graph& graph, NodeId root, const Form& form, const SkipPattern& pattern) {
  const auto m = match(graph, pattern.whole, root, form.rule);
  if (!m) return Attempt::none();
  const GraphNode& norm = graph.node(root);
  const ValueId sum = norm.inputs[0], x = (*m)[pattern.x], skip = (*m)[pattern.skip];
  if (auto why = objection(graph, *m, {sum})) return std::move(*why);
  const auto& params = norm.params.get<LayerNormalizationParams>();
  if (!is_float32(graph, x) || !has_one_result(graph, norm)) return Attempt::no("its elements are not float32");
  if (!has_same_shape(graph, x, skip)) return Attempt::no("its summands are not known to have one shape");
  const ValueId gamma = (*m)[pattern.gamma], beta = (*m)[pattern.beta], bias = (*m)[pattern.bias];
  if (!is_about_last_axis(graph, params, x) || !has_rows(graph, x, {gamma, beta, bias}))
    return Attempt::no("it is not along the last of two or three axes");
  OnnxNode node{
      kMicrosoftDomain, form.op_type, {x, skip, gamma}, {onnx.messages().make_float("epsilon", params.epsilon)}};
  if (form.has_beta) node.inputs.push_back(beta);
  node.inputs.push_back(bias);
  const bool keeps_sum = read_outside(graph, m->nodes()) != kNone;
  std::vector<ValueId> results{norm.outputs[0]};
  if (keeps_sum) results.insert(results.end(), {kNone, kNone, sum});
  return write_as(onnx, *m, graph, form.rule, std::move(node), results);
}

}  // namespace

Rule fuse_skip_layer_norm(NodeMaker* onnx) {
  return writing_rule(kLayer.rule, {kLayer.op}, onnx, [](NodeMaker& maker, Graph& graph, NodeId root) {
    static const SkipPattern pattern(kLayer);
    return match_skip(maker, graph, root, kLayer, pattern);
  });
}

Rule fuse_skip_rms_norm(NodeMaker* onnx) {
  return writing_rule(kRms.rule, {kRms.op}, onnx, [](NodeMaker& maker, Graph& graph, NodeId root) {
    static const SkipPattern pattern(kRms);
    return match_skip(maker, graph, root, kRms, pattern);
  });
}

}  // namespace tenon
