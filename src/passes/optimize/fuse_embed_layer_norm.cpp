// The LayerNormalization of the sum of rows of two or three tables, which int32 numbers choose.
#include <algorithm>

#include "ops/gather.h"
#include "ops/normalization.h"
#include "passes/normalize/same_value.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseEmbedLayerNorm = "fuse_embed_layer_norm";

struct Lookup {
  Pattern table = Pattern::weight(), ids = Pattern::any();
  Pattern rows = Pattern::op(OpId::Gather, {table, ids});
};

struct EmbeddingPattern {
  Lookup words, positions, segments;
  Pattern gamma = Pattern::weight(), beta = Pattern::weight();
  Pattern pair = Pattern::op(OpId::Add, {words.rows, positions.rows});
  Pattern sum = Pattern::either({Pattern::op(OpId::Add, {pair, segments.rows}), pair});
  Pattern whole = Pattern::op(OpId::LayerNormalization, {sum, gamma, beta});
};

bool is_lookup(const Graph& graph, const Match& m, const Lookup& lookup) {
  return m.params<GatherParams>(lookup.rows).axis == 0 && graph.value(m[lookup.ids]).type.dtype == DType::Int32 &&
         rank_of(graph, m[lookup.ids]) == 2 && rank_of(graph, m[lookup.table]) == 2 &&
         is_float32(graph, m[lookup.table]);
}

// Positions may be the same for the whole batch.
bool is_row_like(const Graph& graph, ValueId ids, ValueId words) {
  if (has_same_shape(graph, ids, words)) return true;
  const Shape &a = *graph.value(ids).type.shape, &b = *graph.value(words).type.shape;
  return a[0] == Dim(1) && a[1] == b[1];
}

// The tables in the order of the op. Which one is called which does not matter, as long as the ids fit.
struct Tables {
  const Lookup *words = nullptr, *positions = nullptr, *segments = nullptr;
};

std::optional<Tables> tables_of(const Graph& graph, const Match& m, std::vector<const Lookup*> lookups) {
  if (!std::ranges::all_of(lookups, [&](const Lookup* lookup) { return is_lookup(graph, m, *lookup); }))
    return std::nullopt;
  for (size_t i = 0; i < lookups.size(); ++i, std::rotate(lookups.begin(), lookups.begin() + 1, lookups.end())) {
    const Tables tables{lookups[1], lookups[0], lookups.size() > 2 ? lookups[2] : nullptr};
    const ValueId ids = m[tables.words->ids];
    if (is_row_like(graph, m[tables.positions->ids], ids) &&
        (!tables.segments || has_same_shape(graph, m[tables.segments->ids], ids)))
      return tables;
  }
  return std::nullopt;
}

Attempt match_embedding(NodeMaker& onnx, Graph& graph, NodeId root) {
  static const EmbeddingPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseEmbedLayerNorm);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  std::vector<const Lookup*> lookups{&pattern.positions, &pattern.words};
  if (m->has(pattern.segments.rows)) lookups.push_back(&pattern.segments);
  const auto tables = tables_of(graph, *m, lookups);
  const auto& params = graph.node(root).params.get<LayerNormalizationParams>();
  if (!tables || (params.axis != -1 && params.axis != 2))
    return Attempt::no("its rows are not known to be chosen by matrices of int32 that fit");
  const Lookup* segments = tables->segments;
  const ValueId none = kNone;
  return write_as(onnx, *m, graph, kFuseEmbedLayerNorm,
                  {kMicrosoftDomain,
                   "EmbedLayerNormalization",
                   {(*m)[tables->words->ids], segments ? (*m)[segments->ids] : none, (*m)[tables->words->table],
                    (*m)[tables->positions->table], segments ? (*m)[segments->table] : none, (*m)[pattern.gamma],
                    (*m)[pattern.beta], none, (*m)[tables->positions->ids]},
                   {onnx.messages().make_float("epsilon", params.epsilon)}},
                  {graph.node(root).outputs[0], kNone});
}

}  // namespace

Rule fuse_embed_layer_norm(NodeMaker* onnx) {
  return writing_rule(kFuseEmbedLayerNorm, {OpId::LayerNormalization}, onnx, match_embedding);
}

}  // namespace tenon
