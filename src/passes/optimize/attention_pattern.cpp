#include "passes/optimize/attention_pattern.h"

#include "ops/softmax.h"
#include "passes/optimize/axes.h"

namespace tenon {

namespace {

Pattern scaled(const Pattern& plain, const Pattern& factor, const Pattern& divided) {
  return Pattern::either({Pattern::op(OpId::Mul, {plain, factor}), divided, plain});
}

}  // namespace

AttentionCore::AttentionCore(const Pattern& query, const Pattern& turned_keys, const Pattern& values,
                             const Pattern& factor_of_scores)
    : factors{factor_of_scores, Pattern::scalar(), Pattern::scalar()},
      divided{Pattern::any(), Pattern::op(OpId::Div, {query, factors[1]}),
              Pattern::op(OpId::Div, {turned_keys, factors[2]})} {
  const Pattern scores =
      Pattern::op(OpId::MatMul, {scaled(query, factors[1], divided[1]), scaled(turned_keys, factors[2], divided[2])});
  divided[0] = Pattern::op(OpId::Div, {scores, factors[0]});
  const Pattern all_scaled = scaled(scores, factors[0], divided[0]);
  sum = Pattern::op(OpId::Add, {all_scaled, mask});
  kept = Pattern::op(OpId::Where, {condition, all_scaled, low});
  hidden = Pattern::op(OpId::Where, {condition, low, all_scaled});
  softmax = Pattern::op(OpId::Softmax, {Pattern::either({sum, kept, hidden, all_scaled})});
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

bool is_along_keys(const AttentionCore& core, const Match& m) {
  const int64_t axis = m.params<SoftmaxParams>(core.softmax).axis;
  return axis == -1 || axis == 3;
}

bool is_masked(const AttentionCore& core, const Match& m) {
  return m.has(core.sum) || m.has(core.kept) || m.has(core.hidden);
}

ValueId mask_of(Patch& patch, const AttentionCore& core, const Match& m, std::string_view asker) {
  if (m.has(core.sum)) return m[core.mask];
  const auto low = number_of(patch.graph(), m[core.low], asker);
  if (!low || !hides_score(*low)) return kNone;
  const ValueId hiding = patch.scalar(static_cast<float>(*low)), zero = patch.scalar(0);
  return m.has(core.kept) ? patch.op(OpId::Where, {m[core.condition], zero, hiding})
                          : patch.op(OpId::Where, {m[core.condition], hiding, zero});
}

MaskFact mask_fact(Graph& graph, const AttentionCore& core, const Match& m, const ScoreExtents& extents,
                   std::string_view asker) {
  MaskFact fact{false, false};
  if (m.has(core.sum)) fact = fact_of_summand(graph, m[core.mask], extents, asker);
  if (m.has(core.kept)) fact = fact_of_kept(graph, m[core.condition], extents, asker);
  if (m.has(core.hidden)) fact = fact_of_hidden(graph, m[core.condition], extents, asker);
  // The last position has no future.
  fact.hides_future = fact.hides_future || extents.queries == Dim(1);
  return fact;
}

ValueId mask_for(Patch& patch, ValueId mask, const Shape& scores, bool with_all_axes) {
  if (mask == kNone) return kNone;
  const auto& shape = patch.type(mask).shape;
  if (!shape || shape->empty() || shape->size() > scores.size() || shape->back() != scores.back()) return kNone;
  const size_t first = scores.size() - shape->size();
  for (size_t i = 0; i < shape->size(); ++i)
    if ((*shape)[i] != Dim(1) && (*shape)[i] != scores[first + i]) return kNone;
  const Dim& queries = scores[scores.size() - 2];
  const bool has_queries = shape->size() > 1 && (*shape)[shape->size() - 2] == queries;
  if (has_queries && (!with_all_axes || shape->size() == scores.size())) return mask;
  if (!has_queries && !queries.is_constant()) return kNone;
  std::vector<int64_t> target{has_queries ? 1 : queries.value(), 1};
  if (with_all_axes) target.insert(target.begin(), scores.size() - 2, 1);
  return patch.op(OpId::Expand, {mask, patch.integers(target)});
}

}  // namespace tenon
