#include "passes/optimize/attention_pattern.h"

#include "passes/optimize/axes.h"

namespace tenon {

namespace {

Pattern scaled(const Pattern& plain, const Pattern& factor, const Pattern& divided) {
  return Pattern::either({Pattern::op(OpId::Mul, {plain, factor}), divided, plain});
}

}  // namespace

AttentionCore::AttentionCore(const Pattern& query, const Pattern& turned_keys, const Pattern& values)
    : divided{Pattern::any(), Pattern::op(OpId::Div, {query, factors[1]}),
              Pattern::op(OpId::Div, {turned_keys, factors[2]})},
      sum(Pattern::any()), softmax(Pattern::any()), whole(Pattern::any()) {
  const Pattern scores =
      Pattern::op(OpId::MatMul, {scaled(query, factors[1], divided[1]), scaled(turned_keys, factors[2], divided[2])});
  divided[0] = Pattern::op(OpId::Div, {scores, factors[0]});
  const Pattern all_scaled = scaled(scores, factors[0], divided[0]);
  sum = Pattern::op(OpId::Add, {all_scaled, mask});
  softmax = Pattern::op(OpId::Softmax, {Pattern::either({sum, all_scaled})});
  whole = Pattern::op(OpId::MatMul, {softmax, values});
}

std::optional<double> scale_of(Graph& graph, const AttentionCore& core, const Match& m, std::string_view asker) {
  double scale = 1;
  for (size_t i = 0; i < core.factors.size(); ++i) {
    if (!m.has(core.factors[i])) continue;
    const auto factor = number_of(graph, m[core.factors[i]], asker);
    if (!factor || !(*factor > 0) || rank_of(graph, m[core.factors[i]]).value_or(2) > 1) return std::nullopt;
    scale = m.has(core.divided[i]) ? scale / *factor : scale * *factor;
  }
  return scale;
}

ValueId mask_for(Patch& patch, ValueId mask, const Shape& scores) {
  const auto& shape = patch.type(mask).shape;
  if (!shape || shape->empty() || shape->size() > scores.size() || shape->back() != scores.back()) return kNone;
  const size_t first = scores.size() - shape->size();
  for (size_t i = 0; i < shape->size(); ++i)
    if ((*shape)[i] != Dim(1) && (*shape)[i] != scores[first + i]) return kNone;
  const Dim& queries = scores[scores.size() - 2];
  if (shape->size() > 1 && (*shape)[shape->size() - 2] == queries) return mask;
  if (!queries.is_constant()) return kNone;
  return patch.op(OpId::Expand, {mask, patch.integers({queries.value(), 1})});
}

}  // namespace tenon
