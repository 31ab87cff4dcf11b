#include "passes/optimize/attention_layer.h"

#include "ops/concat.h"
#include "ops/gather.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/constants.h"
#include "passes/optimize/permutation.h"

namespace tenon {

namespace {

// The number of heads that a value is split into, if it is known to be split evenly.
std::optional<int64_t> heads_of(const Graph& graph, const Match& m, const SplitHeads& split) {
  const auto &whole = graph.value(m[split.x]).type.shape, &parts = graph.value(m[split.parts]).type.shape;
  if (!whole || !parts || whole->size() != 3 || parts->size() != 4) return std::nullopt;
  const Dim &heads = (*parts)[2], &size = (*parts)[3];
  const bool is_even = heads.is_constant() && size.is_constant() && heads * size == (*whole)[2];
  if (!is_even || (*parts)[0] != (*whole)[0] || (*parts)[1] != (*whole)[1]) return std::nullopt;
  return heads.value();
}

bool orders_fit(const Graph& graph, const Match& m, const AttentionLayerPattern& p) {
  const auto is_order = [&](const Pattern& node, const Permutation& order) {
    return permutation_of(graph, m.node(node)) == order;
  };
  const Permutation swap{0, 2, 1, 3};
  const bool keys = m.has(p.turned) ? is_order(p.k.heads, swap) && is_order(p.turned, {0, 1, 3, 2})
                                    : is_order(p.k.heads, {0, 2, 3, 1});
  return keys && is_order(p.q.heads, swap) && is_order(p.v.heads, swap) && is_order(p.joined, swap);
}

// Keys come first in the past, [2, batch, heads, before, size], and both go on along the positions.
bool past_fits(Graph& graph, const AttentionLayerPattern& p, const Match& m, std::string_view asker,
               const Shape& fresh) {
  if (m.has(p.all_keys) != m.has(p.all_values)) return false;
  if (!m.has(p.all_keys)) return true;
  for (const auto& [all, index, place] : {std::tuple{p.all_keys, p.first, 0}, std::tuple{p.all_values, p.second, 1}}) {
    const GraphNode& joined = m.node(all);
    const GraphNode& part = graph.node(graph.value(joined.inputs[0]).producer);
    const auto number = known_integers(graph, m[index], asker);
    const int64_t axis = joined.params.get<ConcatParams>().axis;
    if (!number || number->size() != 1 || number->front() != place || rank_of(graph, m[index]) != 0) return false;
    if ((axis != 2 && axis != -2) || part.params.get<GatherParams>().axis != 0) return false;
  }
  const auto &past = graph.value(m[p.past]).type.shape, &all = graph.value(m[p.all_keys]).type.shape;
  return past && all && past->size() == 5 && *past == Shape{2, fresh[0], fresh[1], (*past)[3], fresh[3]} &&
         (*all)[2] == (*past)[3] + fresh[2];
}

}  // namespace

std::optional<std::string> read_attention_layer(Graph& graph, const AttentionLayerPattern& p, const Match& m,
                                                std::string_view asker, AttentionLayer& layer) {
  layer.q = m[p.q.x];
  layer.k = m[p.k.x];
  layer.v = m[p.v.x];
  const auto heads = heads_of(graph, m, p.q);
  if (!heads || heads_of(graph, m, p.k) != heads || heads_of(graph, m, p.v) != heads || !orders_fit(graph, m, p))
    return "queries, keys and values are not known to be split into the same heads";
  layer.heads = *heads;
  const Shape &query = *graph.value(layer.q).type.shape, &key = *graph.value(layer.k).type.shape,
              &value = *graph.value(layer.v).type.shape;
  const auto& joined = graph.value(m[p.whole]).type.shape;
  if (query[0] != key[0] || key[0] != value[0] || key[1] != value[1] || query[2] != key[2] || !joined ||
      *joined != Shape{query[0], query[1], value[2]})
    return "the shapes of queries, keys and values are not known to fit";
  Dim keys = key[1];
  const Shape fresh{key[0], *heads, key[1], floor_div(key[2], Dim(*heads))};
  if (!past_fits(graph, p, m, asker, fresh)) return "its past is not known to hold keys and then values";
  if (m.has(p.all_keys)) {
    layer.past = m[p.past];
    layer.keys = m[p.all_keys];
    layer.values = m[p.all_values];
    keys = (*graph.value(layer.keys).type.shape)[2];
  }
  layer.scores = {query[0], Dim(*heads), query[1], keys};
  if (!is_along_keys(p.core, m)) return "its Softmax is not along the keys";
  const auto scale = scale_of(graph, p.core, m, asker);
  if (!scale) return "its scale is not known";
  layer.scale = static_cast<float>(*scale);
  return std::nullopt;
}

}  // namespace tenon
