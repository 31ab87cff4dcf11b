// Softmax(scale * Q K' + mask) V of whatever exporter, as the op that never writes the scores. A number that the model
// has as a weight stays a factor of the queries.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "compiler/targets/cpu/claim.h"
#include "ir/readers.h"
#include "ops/attention.h"
#include "ops/softmax.h"
#include "passes/optimize/attention_pattern.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/heads.h"
#include "passes/optimize/permutation.h"

namespace tenon {

namespace {

constexpr std::string_view kClaimAttention = "claim_attention";

struct ScoresPattern {
  Pattern q = Pattern::any(), turned = Pattern::any(), v = Pattern::any();
  AttentionCore core{q, turned, v, Pattern::any()};
};

const Shape* shape_of(const Patch& patch, ValueId v) {
  const auto& shape = patch.type(v).shape;
  return shape ? &*shape : nullptr;
}

Shape with_last_turned(Shape shape) {
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

// x with this shape, of which one extent at most is not known as a number; kNone: more are open.
ValueId reshaped(Patch& patch, ValueId x, const Shape& shape) {
  std::vector<int64_t> target;
  for (const Dim& extent : shape) target.push_back(extent.constant().value_or(-1));
  if (std::ranges::count(target, -1) > 1 || std::ranges::count(target, 0) > 0) return kNone;
  return patch.op(OpId::Reshape, {x, patch.integers(target)});
}

// x with its last axes exchanged. The nodes that this undoes are added to `inside`.
ValueId turn(Patch& patch, ValueId x, size_t rank, std::vector<NodeId>& inside) {
  const Graph& graph = patch.graph();
  Permutation order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  const Permutation plain = one_after_another(order, order);
  if (const GraphNode* node = patch.is_new(x) ? nullptr : maker(graph, x, OpId::Transpose)) {
    if (const auto first = permutation_of(graph, *node)) {
      order = one_after_another(*first, order);
      inside.push_back(node->id);
      x = node->inputs[0];
    }
  }
  return order == plain ? x : patch.op(OpId::Transpose, {x}, Params::of(TransposeParams{order}));
}

// The keys [.., length, size] of [.., size, length]. Exporters turn matrices of all heads, too.
ValueId keys_of(Patch& patch, ValueId turned, std::vector<NodeId>& inside) {
  const Graph& graph = patch.graph();
  const Shape shape = *shape_of(patch, turned), wanted = with_last_turned(shape);
  const GraphNode* parted = maker(graph, turned, OpId::Reshape);
  const GraphNode* all = parted ? maker(graph, parted->inputs[0], OpId::Transpose) : nullptr;
  const Shape* all_shape = all ? shape_of(patch, all->outputs[0]) : nullptr;
  const bool keeps_matrices = all_shape && all_shape->size() == 3 &&
                              permutation_of(graph, *all) == Permutation{0, 2, 1} &&
                              (*all_shape)[1] == shape[shape.size() - 2] && (*all_shape)[2] == shape.back();
  if (keeps_matrices) {
    const ValueId rows = all->inputs[0];
    const GraphNode* joined = maker(graph, rows, OpId::Reshape);
    if (joined && has_shape(graph, joined->inputs[0], wanted)) {
      inside.insert(inside.end(), {parted->id, all->id, joined->id});
      return joined->inputs[0];
    }
    if (const ValueId keys = reshaped(patch, rows, wanted); keys != kNone) return keys;
  }
  return turn(patch, turned, shape.size(), inside);
}

// A number that scores are multiplied with, or divided by.
struct Factor {
  ValueId value = kNone;
  bool divides = false;
};

std::vector<Factor> factors_of(const AttentionCore& core, const Match& m) {
  std::vector<Factor> factors;
  for (size_t i = 0; i < core.factors.size(); ++i)
    if (m.has(core.factors[i])) factors.push_back({m[core.factors[i]], m.has(core.divided[i])});
  return factors;
}

// Whether they are single numbers that change no shape.
bool are_numbers(const Graph& graph, const std::vector<Factor>& factors, size_t rank) {
  return std::ranges::all_of(factors, [&](const Factor& factor) {
    const auto& shape = graph.value(factor.value).type.shape;
    return shape && shape->size() <= rank && element_count(*shape) == Dim(1);
  });
}

// The value that v is a multiple of: factors that nodes compute, of the extents of other values for example.
ValueId without_factors(const Graph& graph, ValueId v, std::vector<Factor>& factors, std::vector<NodeId>& inside) {
  for (Scaling s; (s = scaling_of(graph, v)).node;) {
    factors.push_back({s.node->inputs[1 - s.x], s.node->op == OpId::Div});
    inside.push_back(s.node->id);
    v = s.node->inputs[s.x];
  }
  return v;
}

// Queries, multiplied with the factors that are not known; those that are become the scale.
ValueId scaled_queries(Patch& patch, const std::vector<Factor>& factors, ValueId q, float& scale) {
  double known = 1;
  for (const Factor& factor : factors) {
    const auto number = number_of(patch.graph(), factor.value, kClaimAttention);
    if (number && std::isnormal(*number) && *number > 0)
      known *= factor.divides ? 1 / *number : *number;
    else
      q = patch.op(factor.divides ? OpId::Div : OpId::Mul, {q, factor.value});
  }
  scale = static_cast<float>(known);
  return q;
}

// [batch, heads, length, size]; a matrix of each head has no batch.
ValueId with_batch(Patch& patch, ValueId x) {
  return shape_of(patch, x)->size() == 4 ? x : patch.op(OpId::Unsqueeze, {x, patch.integers({0})});
}

struct Operands {
  ValueId q = kNone, k = kNone, v = kNone, mask = kNone;
  std::optional<Cached> keys, values;  // of which k and v are what follows a past
  std::vector<NodeId> inside;          // what the op replaces
  std::vector<NodeId> turns_keys;      // what lies between them and the scores
  AttentionParams params;
};

// Why these are not the queries, keys and values of an Attention; nothing: they are.
std::optional<std::string> misfit(const Patch& patch, const Operands& o) {
  const Shape *q = shape_of(patch, o.q), *k = shape_of(patch, o.k), *v = shape_of(patch, o.v);
  if (!q || !k || !v || q->size() != k->size() || k->size() != v->size() || q->size() < 3 || q->size() > 4)
    return "the shapes of queries, keys and values are not known to fit";
  const size_t rank = q->size(), heads = rank - 3;
  const Dim &most = (*q)[heads], &groups = (*k)[heads];
  const bool are_groups =
      most.is_constant() && groups.is_constant() && groups.value() > 0 && most.value() % groups.value() == 0;
  if ((*k)[heads] != (*v)[heads] || (most != groups && !are_groups) || (*q)[0] != (*k)[0] || (*q)[0] != (*v)[0])
    return "its batches or heads are not known to be the same";
  if (q->back() != k->back() || (*k)[rank - 2] != (*v)[rank - 2])
    return "the keys are not known to be as wide as the queries, or as many as the values";
  return std::nullopt;
}

// Whether v is computed from what this node makes.
bool depends_on(const Graph& graph, ValueId v, NodeId made_by) {
  std::set<NodeId> seen;
  std::vector<ValueId> open{v};
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    const NodeId maker = next == kNone ? NodeId(kNone) : graph.value(next).producer;
    if (maker == made_by) return true;
    // What comes before the node does not depend on it.
    if (maker == kNone || graph.is_before(maker, made_by) || !seen.insert(maker).second) continue;
    const std::vector<ValueId> operands = operands_of(graph.node(maker));
    open.insert(open.end(), operands.begin(), operands.end());
  }
  return false;
}

// Whether a past of keys and one of values are equally long, and all are there before the mask.
bool is_one_past(const Patch& patch, const Cached& keys, const Cached& values, ValueId mask) {
  const Graph& graph = patch.graph();
  // Exporters compute masks from the shape of all keys.
  if (depends_on(graph, mask, keys.node) || depends_on(graph, mask, values.node)) return false;
  const Shape *key = shape_of(patch, keys.past), *value = shape_of(patch, values.past);
  const Shape& all = *shape_of(patch, graph.node(keys.node).outputs[0]);
  return key && value && key->size() == 4 && value->size() == 4 && (*key)[0] == all[0] && (*key)[1] == all[1] &&
         (*value)[0] == all[0] && (*value)[1] == all[1] && (*key)[2] == (*value)[2];
}

// Whether the op can replace these nodes, too: nothing else reads what they make but what it gives out.
bool can_replace(const Graph& graph, std::vector<NodeId> nodes, const std::vector<NodeId>& more,
                 std::initializer_list<ValueId> kept = {}) {
  nodes.insert(nodes.end(), more.begin(), more.end());
  return read_outside(graph, nodes, kept) == kNone;
}

// Heads that stand for a group of queries.
void see_through_repeats(Patch& patch, Operands& o) {
  const Graph& graph = patch.graph();
  std::vector<NodeId> nodes = o.turns_keys;
  const ValueId k = before_repeat(graph, o.k, nodes), v = before_repeat(graph, o.v, nodes);
  if (k == o.k || v == o.v || !can_replace(graph, o.inside, nodes)) return;
  o.k = k;
  o.v = v;
  o.inside.insert(o.inside.end(), nodes.begin(), nodes.end());
  o.turns_keys.clear();
}

// A past before the keys and values.
void see_through_past(Patch& patch, ValueId mask, Operands& o) {
  const Graph& graph = patch.graph();
  const auto keys = cached(graph, o.k), values = cached(graph, o.v);
  if (!keys || !values || !is_one_past(patch, *keys, *values, mask)) return;
  std::vector<NodeId> nodes = o.turns_keys;
  nodes.insert(nodes.end(), {keys->node, values->node});
  if (!can_replace(graph, o.inside, nodes, {o.k, o.v})) return;
  o.keys = keys;
  o.values = values;
  o.k = keys->fresh;
  o.v = values->fresh;
  o.inside.insert(o.inside.end(), nodes.begin(), nodes.end());
}

// An extent of a mask that is repeated, that of the scores, or one that no number is known of. Runs check the last.
bool may_be(const Dim& extent, const Dim& of_scores) {
  return extent.equals(1) || extent == of_scores || (!extent.is_constant() && !of_scores.equals(1));
}

// The scores [.., heads, queries, keys] and a mask that does not make them more.
bool mask_fits(const Patch& patch, ValueId mask, const Operands& o, const Dim& keys) {
  const Shape *shape = shape_of(patch, mask), *q = shape_of(patch, o.q);
  if (!shape || shape->empty() || shape->size() > q->size() || shape->back().equals(1)) return false;
  Shape scores = *q;
  scores.back() = keys;
  const size_t first = scores.size() - shape->size();
  for (size_t i = 0; i < shape->size(); ++i)
    if (!may_be((*shape)[i], scores[first + i])) return false;
  return true;
}

// A reason when what hides scores cannot be given to the op.
std::optional<std::string> take_mask(Patch& patch, const AttentionCore& core, const Match& m, const Dim& keys,
                                     Operands& o) {
  o.params.hidden_score = -std::numeric_limits<float>::infinity();
  if (!is_masked(core, m)) return std::nullopt;
  o.params.whole_mask = true;
  if (m.has(core.sum)) {
    o.mask = m[core.mask];
  } else {
    const auto low = number_of(patch.graph(), m[core.low], kClaimAttention);
    if (!low) return "the score of what it hides is not known";
    o.params.hidden_score = static_cast<float>(*low);
    o.mask = m.has(core.kept) ? m[core.condition] : patch.op(OpId::Not, {m[core.condition]});
  }
  if (!mask_fits(patch, o.mask, o, keys)) return "the shape of its mask is not known to fit";
  return std::nullopt;
}

// The op in the place of the root, and of the keys and values together with the past.
Attempt replaced(std::unique_ptr<Patch> patch, const Operands& o) {
  const Graph& graph = patch->graph();
  const ValueId result = graph.node(patch->root()).outputs[0];
  const bool has_batch = shape_of(*patch, o.q)->size() == 4;
  patch->set_reason("together the nodes compute Attention");
  std::vector<ValueId> inputs{with_batch(*patch, o.q), with_batch(*patch, o.k), with_batch(*patch, o.v), o.mask};
  if (!o.keys) {
    if (auto why = objection(graph, o.inside)) return std::move(*why);
    const ValueId y = patch->op(OpId::Attention, inputs, Params::of(o.params));
    patch->redefine(result, has_batch ? y : patch->op(OpId::Squeeze, {y, patch->integers({0})}));
    return Attempt::of(std::move(patch));
  }
  const ValueId keys = graph.node(o.keys->node).outputs[0], values = graph.node(o.values->node).outputs[0];
  if (auto why = objection(graph, o.inside, {keys, values})) return std::move(*why);
  inputs.insert(inputs.end(), {o.keys->past, o.values->past});
  const auto made = patch->ops(OpId::Attention, inputs, Params::of(o.params), 3);
  patch->redefine(result, made[0]);
  patch->redefine(keys, made[1]);
  patch->redefine(values, made[2]);
  return Attempt::of(std::move(patch));
}

Attempt match_scores(Graph& graph, NodeId root) {
  static const ScoresPattern pattern;
  const auto m = match(graph, pattern.core.whole, root, kClaimAttention);
  if (!m) return Attempt::none();
  if (!is_float32(graph, (*m)[pattern.q])) return Attempt::no("its elements are not float32");
  auto patch = std::make_unique<Patch>(graph, root, kClaimAttention);
  const Shape *turned = shape_of(*patch, (*m)[pattern.turned]), *q = shape_of(*patch, (*m)[pattern.q]);
  if (!turned || !q || turned->size() != q->size() || q->size() < 3)
    return Attempt::no("the shapes of queries and keys are not known");
  std::vector<Factor> factors = factors_of(pattern.core, *m);
  if (!are_numbers(graph, factors, q->size())) return Attempt::no("its scale is not one number");
  const int64_t axis = m->params<SoftmaxParams>(pattern.core.softmax).axis;
  if (axis != -1 && axis != static_cast<int64_t>(q->size()) - 1)
    return Attempt::no("its Softmax is not along the keys");
  const Dim keys = turned->back();
  Operands o;
  o.q = (*m)[pattern.q];
  o.k = keys_of(*patch, without_factors(graph, (*m)[pattern.turned], factors, o.turns_keys), o.turns_keys);
  o.v = (*m)[pattern.v];
  o.inside = m->nodes();
  if (auto why = misfit(*patch, o)) return Attempt::no(std::move(*why));
  const ValueId mask = m->has(pattern.core.sum) ? (*m)[pattern.core.mask] : (*m)[pattern.core.condition];
  if (q->size() == 4 && !patch->is_new(o.k)) {
    see_through_repeats(*patch, o);
    see_through_past(*patch, is_masked(pattern.core, *m) ? mask : ValueId(kNone), o);
  }
  if (auto why = take_mask(*patch, pattern.core, *m, keys, o)) return Attempt::no(std::move(*why));
  float scale = 1;
  o.q = scaled_queries(*patch, factors, o.q, scale);
  if (!std::isnormal(scale)) return Attempt::no("its scale is not a number that a float holds");
  o.params.scale = scale;
  return replaced(std::move(patch), o);
}

}  // namespace

Rule claim_attention() { return {kClaimAttention, {OpId::MatMul}, match_scores}; }

}  // namespace tenon
