// Attention reads and writes heads that lie next to each other, as products make them. What parts and joins them
// moves no element then.
#include "compiler/targets/cpu/claim.h"
#include "ir/readers.h"
#include "ops/attention.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/heads.h"
#include "passes/optimize/permutation.h"

namespace tenon {

namespace {

constexpr std::string_view kAbsorbHeads = "absorb_heads";

const GraphNode* transpose_of(const Graph& graph, ValueId v, const Permutation& order) {
  const GraphNode* node = v == kNone ? nullptr : maker(graph, v, OpId::Transpose);
  return node && permutation_of(graph, *node) == order ? node : nullptr;
}

// A matrix of each head, where there is one batch: [heads, length, size] of [1, heads, length, size].
ValueId of_one_batch(const Graph& graph, ValueId heads) {
  for (const OpId op : {OpId::Unsqueeze, OpId::Reshape}) {
    const GraphNode* node = maker(graph, heads, op);
    if (!node) continue;
    const Shape &all = *graph.value(heads).type.shape, own(all.begin() + 1, all.end());
    if (all[0].equals(1) && has_shape(graph, node->inputs[0], own)) return node->inputs[0];
  }
  return kNone;
}

// Heads [batch, heads, length, size] that are transposed from [batch, length, heads, size] or, for one batch,
// [length, heads, size]; kNone: they are not. Numbers that they are multiplied with may come in between.
ValueId parts_of(const Graph& graph, ValueId heads) {
  for (Scaling s; heads != kNone && (s = scaling_of(graph, heads)).node;) heads = s.node->inputs[s.x];
  if (!heads_shape(graph, heads)) return kNone;
  if (const GraphNode* node = transpose_of(graph, heads, {0, 2, 1, 3})) return node->inputs[0];
  const GraphNode* node = transpose_of(graph, of_one_batch(graph, heads), {1, 0, 2});
  return node ? node->inputs[0] : ValueId(kNone);
}

// The same as [batch, length, heads * size].
ValueId packed(Patch& patch, ValueId heads) {
  const Graph& graph = patch.graph();
  if (const Scaling s = scaling_of(graph, heads); s.node) {
    std::vector<ValueId> operands = s.node->inputs;
    const OpId op = s.node->op;
    operands[s.x] = packed(patch, operands[s.x]);
    return patch.op(op, operands);
  }
  const Shape shape = *heads_shape(graph, heads);
  const Dim width = shape[1] * shape[3];
  const ValueId parts = parts_of(graph, heads);
  const GraphNode* split = maker(graph, parts, OpId::Reshape);
  if (split && has_shape(graph, split->inputs[0], {shape[0], shape[2], width})) return split->inputs[0];
  const bool has_batch = graph.value(parts).type.shape->size() == 4;
  return patch.op(OpId::Reshape, {parts, patch.integers({has_batch ? 0 : 1, has_batch ? 0 : -1, width.value()})});
}

Attempt match_heads(Graph& graph, NodeId root) {
  const GraphNode& joined = graph.node(root);
  const GraphNode* node = maker(graph, joined.inputs[0], OpId::Attention);
  if (!node || joined.inputs[0] != node->outputs[0]) return Attempt::none();
  const Shape* result = heads_shape(graph, node->outputs[0]);
  const Shape* keys = heads_shape(graph, node->inputs[1]);
  if (!result || !keys || graph.value(node->inputs[0]).type.shape->size() != 4)
    return Attempt::no("its heads are not known, or next to each other already");
  const auto order = permutation_of(graph, joined);
  const bool is_plain = order == Permutation{0, 2, 1, 3};
  const bool is_for_one_batch = order == Permutation{2, 0, 1, 3} && (*result)[0].equals(1);
  if (!is_plain && !is_for_one_batch) return Attempt::no("its heads are not joined for each position");
  if (only_reader(graph, node->outputs[0]) != root) return Attempt::no("another node reads the heads");
  if (parts_of(graph, node->inputs[0]) == kNone) return Attempt::no("its queries are not parted into heads");
  for (size_t i = 3; i < node->outputs.size(); ++i)
    if (node->outputs[i] != kNone) return Attempt::no("its scores are wanted");

  auto patch = std::make_unique<Patch>(graph, root, kAbsorbHeads);
  patch->set_reason("attention takes heads that lie next to each other");
  AttentionParams params = node->params.get<AttentionParams>();
  std::vector<ValueId> inputs = node->inputs;
  const Shape whole = *result;
  params.q_num_heads = whole[1].value();
  params.kv_num_heads = (*keys)[1].value();
  inputs[0] = packed(*patch, inputs[0]);
  if (parts_of(graph, inputs[1]) != kNone && parts_of(graph, inputs[2]) != kNone) {
    inputs[1] = packed(*patch, inputs[1]);
    inputs[2] = packed(*patch, inputs[2]);
  }
  const std::vector<ValueId> before = node->outputs;
  const auto made = patch->ops(OpId::Attention, inputs, Params::of(params), before.size());
  const std::vector<int64_t> target = is_plain ? std::vector<int64_t>{0, 0, whole[1].value(), whole[3].value()}
                                               : std::vector<int64_t>{-1, 1, whole[1].value(), whole[3].value()};
  patch->redefine(joined.outputs[0], patch->op(OpId::Reshape, {made[0], patch->integers(target)}));
  for (size_t i = 1; i < before.size(); ++i)
    if (before[i] != kNone) patch->redefine(before[i], made[i]);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule absorb_heads() { return {kAbsorbHeads, {OpId::Transpose}, match_heads}; }

}  // namespace tenon
