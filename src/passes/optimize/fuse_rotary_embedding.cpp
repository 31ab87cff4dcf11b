// Halves of heads that are turned by angles of their positions, in both forms that exporters write:
//   x * cos + concat(-second, first) * sin, with tables of twice the same, and
//   concat(first * cos - second * sin, second * cos + first * sin).
#include <algorithm>

#include "ir/readers.h"
#include "ops/concat.h"
#include "ops/rotary_embedding.h"
#include "ops/split.h"
#include "passes/optimize/constants.h"
#include "passes/optimize/heads.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/slice_ranges.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseRotaryEmbedding = "fuse_rotary_embedding";
// The version of ONNX that the op came with.
constexpr int64_t kRotaryEmbeddingSince = 23;

// Both halves of x, along its last axis.
struct HalvesPattern {
  Pattern x = Pattern::any();
  Pattern split = Pattern::op(OpId::Split, {x, maybe(Pattern::any())});
  Pattern low = slice(), high = slice();
  Pattern first = Pattern::either({split, low}), second = Pattern::either({split.result(1), high});

 private:
  Pattern slice() const {
    return Pattern::op(OpId::Slice, {x, Pattern::any(), Pattern::any(), maybe(Pattern::any()), maybe(Pattern::any())});
  }
};

struct WholeTablePattern {
  HalvesPattern halves;
  Pattern cosines = Pattern::any(), sines = Pattern::any();
  Pattern turned = Pattern::op(OpId::Concat, {Pattern::op(OpId::Neg, {halves.second}), halves.first});
  Pattern whole =
      Pattern::op(OpId::Add, {Pattern::op(OpId::Mul, {halves.x, cosines}), Pattern::op(OpId::Mul, {turned, sines})});
};

struct HalfTablePattern {
  HalvesPattern halves;
  Pattern cosines = Pattern::any(), sines = Pattern::any();
  Pattern whole = Pattern::op(
      OpId::Concat, {Pattern::op(OpId::Sub, {product(halves.first, cosines), product(halves.second, sines)}),
                     Pattern::op(OpId::Add, {product(halves.second, cosines), product(halves.first, sines)})});

 private:
  static Pattern product(const Pattern& a, const Pattern& b) { return Pattern::op(OpId::Mul, {a, b}); }
};

// What is turned, and by what.
struct Rotation {
  ValueId x = kNone, cosines = kNone, sines = kNone;  // tables [.., length, size / 2]
  std::vector<NodeId> nodes;
};

bool is_last_axis(const Graph& graph, int64_t axis, ValueId v) { return axis == -1 || axis + 1 == rank_of(graph, v); }

// --- halves of x --------------------------------------------------------------------------------------------------

bool is_half(Graph& graph, const GraphNode& slice, int64_t begin, int64_t half) {
  const auto bounds = bounds_of(graph, slice, kFuseRotaryEmbedding);
  if (!bounds || bounds->size() != 1 || bounds->begin()->first != 3) return false;
  const SliceBounds& b = bounds->begin()->second;
  const SliceRange range = clamp_slice(2 * half, b.start, b.end, b.step);
  return range.step == 1 && range.start == begin && range.count == half;
}

// Whether the parts are the halves of [batch, heads, length, size].
bool are_halves(Graph& graph, const Match& m, const HalvesPattern& p) {
  const Shape* shape = heads_shape(graph, m[p.x]);
  if (!shape || (*shape)[3].value() % 2 != 0) return false;
  const int64_t half = (*shape)[3].value() / 2;
  if (!m.has(p.split)) return is_half(graph, m.node(p.low), 0, half) && is_half(graph, m.node(p.high), half, half);
  const GraphNode& split = m.node(p.split);
  const auto& part = graph.value(split.outputs[0]).type.shape;
  return split.outputs.size() == 2 && is_last_axis(graph, split.params.get<SplitParams>().axis, m[p.x]) && part &&
         part->back() == Dim(half);
}

// --- tables -------------------------------------------------------------------------------------------------------

// The first half of a value along its last axis where the second half is the same; kNone: that is not known.
ValueId first_of_twice(Patch& patch, ValueId v, int most_nodes = 16) {
  const Graph& graph = patch.graph();
  const NodeId id = graph.value(v).producer;
  if (id == kNone || most_nodes == 0) return kNone;
  const GraphNode& node = graph.node(id);
  const auto again = [&](ValueId half, std::vector<ValueId> more = {}) {
    if (half == kNone) return half;
    more.insert(more.begin(), half);
    return patch.op(node.op, std::move(more), node.params);
  };
  switch (node.op) {
    case OpId::Concat:
      return node.inputs.size() == 2 && node.inputs[0] == node.inputs[1] &&
                     is_last_axis(graph, node.params.get<ConcatParams>().axis, v)
                 ? node.inputs[0]
                 : ValueId(kNone);
    case OpId::Cos:
    case OpId::Sin:
    case OpId::Cast:
      return again(first_of_twice(patch, node.inputs[0], most_nodes - 1));
    case OpId::Mul: {
      const bool is_scalar_first = number_of(patch.graph(), node.inputs[0], kFuseRotaryEmbedding).has_value();
      const ValueId scalar = node.inputs[is_scalar_first ? 0 : 1], table = node.inputs[is_scalar_first ? 1 : 0];
      const auto factor = number_of(patch.graph(), scalar, kFuseRotaryEmbedding);
      if (!factor) return kNone;
      const ValueId half = first_of_twice(patch, table, most_nodes - 1);
      return *factor == 1 ? half : again(half, {scalar});
    }
    case OpId::Unsqueeze: {
      const auto axes = known_integers(patch.graph(), node.inputs[1], kFuseRotaryEmbedding);
      const bool keeps_last =
          axes && std::ranges::none_of(*axes, [&](int64_t axis) { return is_last_axis(graph, axis, v); });
      return keeps_last ? again(first_of_twice(patch, node.inputs[0], most_nodes - 1), {node.inputs[1]})
                        : ValueId(kNone);
    }
    default:
      return kNone;
  }
}

// A table of angles without the axis of heads: [length, half] or [batch, length, half].
ValueId without_heads(Patch& patch, ValueId v) {
  const auto& shape = patch.type(v).shape;
  if (!shape || shape->size() < 4) return v;
  if ((*shape)[1] != Dim(1)) return kNone;
  const GraphNode* unsqueezed = maker(patch.graph(), v, OpId::Unsqueeze);
  const auto axes =
      unsqueezed ? known_integers(patch.graph(), unsqueezed->inputs[1], kFuseRotaryEmbedding) : std::nullopt;
  const bool added_heads = axes && axes->size() == 1 && (axes->front() == 1 || axes->front() == -3);
  return added_heads ? unsqueezed->inputs[0] : patch.op(OpId::Squeeze, {v, patch.integers({1})});
}

// Whether a table has a row for each position of x, the same for all sequences (1) or one for each.
bool fits(const Patch& patch, ValueId table, const Shape& x) {
  if (table == kNone || !patch.type(table).shape) return false;
  const Shape& shape = *patch.type(table).shape;
  if (shape.size() < 2 || shape.size() > 3 || shape.back() * Dim(2) != x[3] || shape[shape.size() - 2] != x[2])
    return false;
  return shape.size() == 2 || shape[0] == Dim(1) || shape[0] == x[0];
}

bool is_shared(const Patch& patch, ValueId table) {
  const Shape& shape = *patch.type(table).shape;
  return shape.size() == 2 || shape[0] == Dim(1);
}

// --- writing it ---------------------------------------------------------------------------------------------------

// As ONNX has it: a table for each sequence.
ValueId for_each_sequence(Patch& patch, ValueId table, const Dim& batch) {
  const Shape& shape = *patch.type(table).shape;
  if (shape.size() == 3 && shape[0] == batch) return table;
  return patch.op(OpId::Expand, {table, patch.integers({batch.value(), 1, 1})});
}

ValueId as_onnx(Patch& patch, const Rotation& r, const Dim& batch) {
  return patch.op(OpId::RotaryEmbedding,
                  {r.x, for_each_sequence(patch, r.cosines, batch), for_each_sequence(patch, r.sines, batch)},
                  Params::of(RotaryEmbeddingParams{}));
}

// As onnxruntime has it: one table, and the row of the first position.
ValueId as_contrib(NodeMaker& onnx, Patch& patch, const Rotation& r) {
  const auto rows = [&](ValueId table) {
    return patch.type(table).shape->size() == 2 ? table : patch.op(OpId::Squeeze, {table, patch.integers({0})});
  };
  const OnnxNode node{
      kMicrosoftDomain, "RotaryEmbedding", {r.x, patch.integers({0}), rows(r.cosines), rows(r.sines)}, {}};
  return onnx.make(patch, node)[0];
}

std::optional<Rotation> find_whole(Patch& patch, NodeId root) {
  static const WholeTablePattern pattern;
  Graph& graph = patch.graph();
  const auto m = match(graph, pattern.whole, root, kFuseRotaryEmbedding);
  if (!m || !are_halves(graph, *m, pattern.halves)) return std::nullopt;
  if (!is_last_axis(graph, m->params<ConcatParams>(pattern.turned).axis, (*m)[pattern.turned])) return std::nullopt;
  return Rotation{(*m)[pattern.halves.x], first_of_twice(patch, (*m)[pattern.cosines]),
                  first_of_twice(patch, (*m)[pattern.sines]), m->nodes()};
}

std::optional<Rotation> find_halves(Patch& patch, NodeId root) {
  static const HalfTablePattern pattern;
  Graph& graph = patch.graph();
  const auto m = match(graph, pattern.whole, root, kFuseRotaryEmbedding);
  if (!m || !are_halves(graph, *m, pattern.halves)) return std::nullopt;
  const GraphNode& joined = graph.node(root);
  if (!is_last_axis(graph, joined.params.get<ConcatParams>().axis, joined.outputs[0])) return std::nullopt;
  return Rotation{(*m)[pattern.halves.x], (*m)[pattern.cosines], (*m)[pattern.sines], m->nodes()};
}

Attempt match_rotation(NodeMaker* onnx, Graph& graph, NodeId root) {
  auto patch = std::make_unique<Patch>(graph, root, kFuseRotaryEmbedding);
  auto r = graph.node(root).op == OpId::Add ? find_whole(*patch, root) : find_halves(*patch, root);
  if (!r) return Attempt::none();
  if (auto why = objection(graph, r->nodes)) return std::move(*why);
  if (!is_float32(graph, r->x)) return Attempt::no("its elements are not float32");
  if (r->cosines == kNone || r->sines == kNone)
    return Attempt::no("the halves of its tables are not known to be the same");
  for (ValueId* table : {&r->cosines, &r->sines}) {
    *table = without_heads(*patch, *table);
    if (!fits(*patch, *table, *heads_shape(graph, r->x)))
      return Attempt::no("the shapes of its tables are not known to fit");
  }
  const Dim batch = (*heads_shape(graph, r->x))[0];
  const bool has_op = !onnx || onnx->version("") >= kRotaryEmbeddingSince;
  const bool is_one_table = is_shared(*patch, r->cosines) && is_shared(*patch, r->sines);
  if (!has_op && !is_one_table)
    return Attempt::no("sequences have tables of their own, and the model imports a version of ONNX without the op");
  const bool as_contrib_op = onnx && is_one_table && (!has_op || !batch.is_constant());
  patch->set_reason("together the nodes compute RotaryEmbedding");
  patch->redefine(graph.node(root).outputs[0],
                  as_contrib_op ? as_contrib(*onnx, *patch, *r) : as_onnx(*patch, *r, batch));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_rotary_embedding(NodeMaker* onnx) {
  return {kFuseRotaryEmbedding, {OpId::Add, OpId::Concat}, [=](Graph& graph, NodeId root) {
            return match_rotation(onnx, graph, root);
          }};
}

}  // namespace tenon
