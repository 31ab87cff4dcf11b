// Transposes move behind elementwise ops where at least one of them disappears for it: before another Transpose, and
// where all operands have the same one.
#include <algorithm>

#include "ir/readers.h"
#include "passes/optimize/constants.h"
#include "passes/optimize/elementwise.h"
#include "passes/optimize/permutation.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kSinkTransposes = "sink_transposes";
constexpr int kDeepest = 16;

// Makes elementwise expressions anew, without the Transposes at their ends, which all have one order.
class Sinking {
 public:
  Sinking(Patch& patch, const Graph& graph) : patch_(patch), graph_(graph) {}

  // A value of which v is the Transpose; kNone: there is none, or something else reads what is between.
  ValueId before(ValueId v, NodeId reader, int depth = 0) {
    if (v == kNone || depth > kDeepest || only_reader(graph_, v) != reader) return kNone;
    if (const GraphNode* transpose = maker(graph_, v, OpId::Transpose)) return before(*transpose);
    const NodeId id = graph_.value(v).producer;
    return id == kNone ? ValueId(kNone) : anew(id, depth);
  }

  // The node with operands of which its own are the Transposes. One number is the same in every order.
  ValueId anew(NodeId id, int depth = 0) {
    const GraphNode& node = graph_.node(id);
    if (!is_elementwise(node.op) || graph_.value(node.outputs[0]).folds) return kNone;
    std::vector<ValueId> operands;
    for (ValueId v : node.inputs) {
      const bool stays = v == kNone || is_number(v);
      operands.push_back(stays ? v : before(v, id, depth + 1));
      if (!stays && operands.back() == kNone) return kNone;
    }
    patch_.set_name(node.name);
    return patch_.op(node.op, std::move(operands), node.params);
  }

  const std::optional<Permutation>& order() const { return order_; }
  int transposes() const { return transposes_; }

 private:
  bool is_number(ValueId v) const {
    const auto& shape = graph_.value(v).type.shape;
    return graph_.value(v).folds && shape && shape->size() <= 1 && count_of(graph_, v) == 1;
  }

  ValueId before(const GraphNode& transpose) {
    const auto order = permutation_of(graph_, transpose);
    if (!order || (order_ && *order_ != *order)) return kNone;
    order_ = order;
    ++transposes_;
    return transpose.inputs[0];
  }

  Patch& patch_;
  const Graph& graph_;
  std::optional<Permutation> order_;
  int transposes_ = 0;
};

// Transpose(f(Transpose(x))).
Attempt match_before_transpose(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const NodeId middle = graph.value(node.inputs[0]).producer;
  if (middle == kNone || !is_elementwise(graph.node(middle).op) || only_reader(graph, node.inputs[0]) != root)
    return Attempt::none();
  auto patch = std::make_unique<Patch>(graph, root, kSinkTransposes);
  Sinking sinking(*patch, graph);
  const ValueId made = sinking.anew(middle);
  const auto order = permutation_of(graph, node);
  if (made == kNone || !sinking.order() || !order) return Attempt::none();
  patch->set_reason("it meets a Transpose at the other end of elementwise ops");
  patch->set_name(node.name);
  const Permutation both = one_after_another(*sinking.order(), *order);
  const bool is_none = std::ranges::is_sorted(both);
  patch->redefine(node.outputs[0],
                  is_none ? made : patch->op(OpId::Transpose, {made}, Params::of(TransposeParams{both})));
  return Attempt::of(std::move(patch));
}

// f(Transpose(x), Transpose(y)).
Attempt match_equal_transposes(Graph& graph, NodeId root) {
  auto patch = std::make_unique<Patch>(graph, root, kSinkTransposes);
  Sinking sinking(*patch, graph);
  const ValueId made = sinking.anew(root);
  if (made == kNone || sinking.transposes() < 2) return Attempt::none();
  patch->set_reason("its operands are transposed in the same way");
  patch->redefine(graph.node(root).outputs[0],
                  patch->op(OpId::Transpose, {made}, Params::of(TransposeParams{*sinking.order()})));
  return Attempt::of(std::move(patch));
}

Attempt match_sinking(Graph& graph, NodeId root) {
  return graph.node(root).op == OpId::Transpose ? match_before_transpose(graph, root)
                                                : match_equal_transposes(graph, root);
}

}  // namespace

Rule sink_transposes() {
  return {kSinkTransposes,
          {OpId::Transpose, OpId::Add, OpId::Sub, OpId::Mul, OpId::Div, OpId::Max, OpId::Min, OpId::Pow},
          match_sinking};
}

}  // namespace tenon
