#include "passes/optimize/heads.h"

#include "ir/readers.h"
#include "ops/concat.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/permutation.h"

namespace tenon {

namespace {

// The node of one of these ops that makes v.
const GraphNode* maker_among(const Graph& graph, ValueId v, std::initializer_list<OpId> ops) {
  for (OpId op : ops)
    if (const GraphNode* node = maker(graph, v, op)) return node;
  return nullptr;
}

}  // namespace

const Shape* heads_shape(const Graph& graph, ValueId v) {
  const auto& shape = graph.value(v).type.shape;
  if (!shape || shape->size() != 4) return nullptr;
  return (*shape)[1].is_constant() && (*shape)[3].is_constant() ? &*shape : nullptr;
}

// Extents alone say what these nodes do: an axis of 1 behind the heads grows, and joins the heads.
ValueId before_repeat(const Graph& graph, ValueId v, std::vector<NodeId>& inside) {
  const GraphNode* joined = maker(graph, v, OpId::Reshape);
  const GraphNode* repeated = joined ? maker_among(graph, joined->inputs[0], {OpId::Expand, OpId::Tile}) : nullptr;
  const GraphNode* apart =
      repeated ? maker_among(graph, repeated->inputs[0], {OpId::Unsqueeze, OpId::Reshape}) : nullptr;
  if (!apart) return v;
  const ValueId x = apart->inputs[0];
  const auto& wide = graph.value(repeated->outputs[0]).type.shape;
  const Shape* shape = heads_shape(graph, x);
  if (!shape || !wide || wide->size() != 5 || !(*wide)[2].is_constant()) return v;
  const Dim &batch = (*shape)[0], &heads = (*shape)[1], &length = (*shape)[2], &size = (*shape)[3], &times = (*wide)[2];
  const bool fits = has_shape(graph, apart->outputs[0], {batch, heads, 1, length, size}) &&
                    has_shape(graph, repeated->outputs[0], {batch, heads, times, length, size}) &&
                    has_shape(graph, v, {batch, heads * times, length, size});
  if (!fits) return v;
  inside.insert(inside.end(), {joined->id, repeated->id, apart->id});
  return x;
}

std::optional<Cached> cached(const Graph& graph, ValueId v) {
  const GraphNode* joined = maker(graph, v, OpId::Concat);
  if (!joined || joined->inputs.size() != 2) return std::nullopt;
  const int64_t axis = joined->params.get<ConcatParams>().axis;
  if ((axis != 2 && axis != -2) || !heads_shape(graph, v)) return std::nullopt;
  return Cached{joined->id, joined->inputs[0], joined->inputs[1]};
}

ValueId rows_of(Patch& patch, ValueId heads, std::vector<NodeId>& inside) {
  const Graph& graph = patch.graph();
  const Shape shape = *heads_shape(graph, heads);
  const Dim width = shape[1] * shape[3];
  const Permutation swap{0, 2, 1, 3};
  ValueId apart = heads;
  if (const GraphNode* turned = maker(graph, heads, OpId::Transpose);
      turned && permutation_of(graph, *turned) == swap) {
    inside.push_back(turned->id);
    apart = turned->inputs[0];
    const GraphNode* split = maker(graph, apart, OpId::Reshape);
    if (split && has_shape(graph, split->inputs[0], {shape[0], shape[2], width})) {
      inside.push_back(split->id);
      return split->inputs[0];
    }
  } else {
    apart = patch.op(OpId::Transpose, {heads}, Params::of(TransposeParams{swap}));
  }
  return patch.op(OpId::Reshape, {apart, patch.integers({0, 0, width.value()})});
}

}  // namespace tenon
