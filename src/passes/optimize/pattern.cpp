#include "passes/optimize/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

struct Pattern::Node {
  enum class Kind : uint8_t { Any, Weight, Scalar, Number, Absent, Op, Result, Either };
  Kind kind = Kind::Any;
  OpId op{};
  double value = 0;
  size_t index = 0;               // of a Result
  std::vector<Pattern> operands;  // alternatives of Either, the node of a Result
};

namespace {

using Node = Pattern::Node;
using Kind = Node::Kind;

bool is_commutative(OpId op) {
  constexpr OpId ops[] = {OpId::Add, OpId::Mul, OpId::And, OpId::Or, OpId::Equal, OpId::Max, OpId::Min};
  return std::ranges::find(ops, op) != std::end(ops);
}

bool has_one_element(const GraphValue& value) {
  return value.type.is_tensor() && value.type.shape && element_count(*value.type.shape) == Dim(1);
}

// Numbers are written with the precision of their type, or computed in it.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return 0x1p-9;
    case DType::BFloat16:
      return 0x1p-6;
    case DType::Float32:
    case DType::Float64:
      return 0x1p-21;
    default:
      return 0;
  }
}

}  // namespace

Pattern Pattern::any() { return Pattern(std::make_shared<const Node>()); }
Pattern Pattern::weight() { return Pattern(std::make_shared<const Node>(Node{Kind::Weight, {}, 0, 0, {}})); }
Pattern Pattern::scalar() { return Pattern(std::make_shared<const Node>(Node{Kind::Scalar, {}, 0, 0, {}})); }
Pattern Pattern::number(double value) {
  return Pattern(std::make_shared<const Node>(Node{Kind::Number, {}, value, 0, {}}));
}
Pattern Pattern::absent() { return Pattern(std::make_shared<const Node>(Node{Kind::Absent, {}, 0, 0, {}})); }
Pattern Pattern::op(OpId op, std::initializer_list<Pattern> operands) {
  return Pattern(std::make_shared<const Node>(Node{Kind::Op, op, 0, 0, operands}));
}
Pattern Pattern::result(size_t index) const {
  return Pattern(std::make_shared<const Node>(Node{Kind::Result, {}, 0, index, {*this}}));
}
Pattern Pattern::either(std::initializer_list<Pattern> alternatives) {
  return Pattern(std::make_shared<const Node>(Node{Kind::Either, {}, 0, 0, alternatives}));
}

Pattern maybe(const Pattern& x) { return Pattern::either({Pattern::absent(), x}); }
Pattern maybe_cast(const Pattern& x) { return Pattern::either({x, Pattern::op(OpId::Cast, {x})}); }

// Depth first, with what is still to be matched as a list, so that a choice made early can be taken back late.
class Matching {
 public:
  Matching(Graph& graph, std::string_view asker) : graph_(graph), asker_(asker) { found_.graph_ = &graph; }

  std::optional<Match> run(const Pattern& pattern, NodeId root) {
    const ValueId v = graph_.node(root).outputs[0];
    const Goal goal{pattern.node(), v, nullptr};
    if (v == kNone || !solve(&goal)) return std::nullopt;
    return std::move(found_);
  }

 private:
  struct Goal {
    const Node* pattern;
    ValueId value;
    const Goal* next;
  };

  bool solve(const Goal* goal) {
    if (!goal) return numbers_fit();
    const Node& p = *goal->pattern;
    if (p.kind == Kind::Absent) return goal->value == kNone && solve(goal->next);
    if (p.kind == Kind::Either) return solve_either(p, goal);
    if (goal->value == kNone) return false;
    if (p.kind == Kind::Result) return solve_result(p, goal);
    for (const auto& [pattern, value] : found_.bound_)
      if (pattern == &p) return value == goal->value && solve(goal->next);
    if (!fits(p, goal->value)) return false;
    found_.bound_.emplace_back(&p, goal->value);
    if (p.kind == Kind::Op ? solve_op(p, goal) : solve(goal->next)) return true;
    found_.bound_.pop_back();
    return false;
  }

  bool fits(const Node& p, ValueId v) const {
    const GraphValue& value = graph_.value(v);
    switch (p.kind) {
      case Kind::Weight:
        return value.folds;
      case Kind::Scalar:
      case Kind::Number:
        return value.constant != kNone && has_one_element(value);
      case Kind::Op:
        return value.producer != kNone && graph_.node(value.producer).op == p.op;
      default:
        return true;
    }
  }

  bool solve_either(const Node& p, const Goal* goal) {
    return std::ranges::any_of(p.operands, [&](const Pattern& alternative) {
      const Goal instead{alternative.node(), goal->value, goal->next};
      return solve(&instead);
    });
  }

  bool solve_result(const Node& p, const Goal* goal) {
    const NodeId maker = graph_.value(goal->value).producer;
    if (maker == kNone) return false;
    const auto& outputs = graph_.node(maker).outputs;
    if (p.index >= outputs.size() || outputs[p.index] != goal->value || outputs[0] == kNone) return false;
    const Goal instead{p.operands[0].node(), outputs[0], goal->next};
    return solve(&instead);
  }

  bool solve_op(const Node& p, const Goal* goal) {
    const GraphNode& node = graph_.node(graph_.value(goal->value).producer);
    if (node.outputs[0] != goal->value || node.inputs.size() > p.operands.size()) return false;
    found_.nodes_.push_back(node.id);
    if (solve_operands(p, node, goal->next, false)) return true;
    if (is_commutative(p.op) && p.operands.size() == 2 && solve_operands(p, node, goal->next, true)) return true;
    found_.nodes_.pop_back();
    return false;
  }

  bool solve_operands(const Node& p, const GraphNode& node, const Goal* next, bool swapped) {
    std::vector<Goal> goals(p.operands.size());
    for (size_t i = goals.size(); i-- > 0;) {
      const ValueId operand = i < node.inputs.size() ? node.inputs[i] : ValueId(kNone);
      const size_t at = swapped ? 1 - i : i;
      goals[at] = {p.operands[at].node(), operand, nullptr};
    }
    for (size_t i = 0; i < goals.size(); ++i) goals[i].next = i + 1 < goals.size() ? &goals[i + 1] : next;
    return solve(goals.empty() ? next : &goals[0]);
  }

  bool numbers_fit() const {
    return std::ranges::all_of(found_.bound_, [&](const auto& bound) {
      if (bound.first->kind != Kind::Number) return true;
      const double number = bound.first->value;
      const double room = std::abs(number) * tolerance_of(graph_.value(bound.second).type.dtype);
      return graph_.ask(bound.second, Property::in_range(number - room, number + room), asker_) == Answer::Yes;
    });
  }

  Graph& graph_;
  std::string_view asker_;
  Match found_;
};

bool Match::has(const Pattern& p) const {
  return std::ranges::any_of(bound_, [&](const auto& bound) { return bound.first == p.node(); });
}

ValueId Match::operator[](const Pattern& p) const {
  for (const auto& [pattern, value] : bound_)
    if (pattern == p.node()) return value;
  return kNone;
}

ValueId read_outside(const Graph& graph, std::span<const NodeId> nodes, std::initializer_list<ValueId> kept) {
  const auto is_inside = [&](const Use& use) {
    return use.kind == Use::Kind::Slot ||
           (use.kind == Use::Kind::Input && std::ranges::find(nodes, use.node) != nodes.end());
  };
  for (NodeId id : nodes.subspan(1))
    for (ValueId v : graph.node(id).outputs)
      if (v != kNone && std::ranges::find(kept, v) == kept.end() &&
          !std::ranges::all_of(graph.value(v).uses, is_inside))
        return v;
  return kNone;
}

std::optional<Match> match(Graph& graph, const Pattern& pattern, NodeId root, std::string_view asker) {
  return Matching(graph, asker).run(pattern, root);
}

std::optional<double> number_of(Graph& graph, ValueId v, std::string_view asker) {
  if (v == kNone || graph.value(v).constant == kNone || !has_one_element(graph.value(v))) return std::nullopt;
  const Tensor* tensor = graph.ask_elements(v, asker);
  if (!tensor) return std::nullopt;
  switch (tensor->dtype()) {
    case DType::Float16:
      return float{tensor->as<Float16>()[0]};
    case DType::BFloat16:
      return float{tensor->as<BFloat16>()[0]};
    case DType::Float32:
      return tensor->as<float>()[0];
    case DType::Float64:
      return tensor->as<double>()[0];
    default:
      return std::nullopt;
  }
}

std::optional<Attempt> objection(const Graph& graph, std::span<const NodeId> nodes,
                                 std::initializer_list<ValueId> kept) {
  const ValueId v = read_outside(graph, nodes, kept);
  if (v == kNone) return std::nullopt;
  return Attempt::no(fmt::format("something else reads '{}' as well", graph.value(v).name));
}

}  // namespace tenon
