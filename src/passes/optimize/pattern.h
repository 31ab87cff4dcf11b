#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir/rewrite.h"

namespace tenon {

// A shape of expression that a rule looks for. A pattern stands for one value: where it occurs twice in another
// pattern, both places must have the same value. Patterns are built once and matched any number of times.
class Pattern {
 public:
  // Any value, also one that is computed.
  static Pattern any();
  // A value that depends on constants alone.
  static Pattern weight();
  // A constant of one element, which is not looked at.
  static Pattern scalar();
  // A constant of one element that is this number, as far as its type can say.
  static Pattern number(double value);
  // No operand.
  static Pattern absent();
  // The first result of an op. Operands of Add, Mul and the like come in any order.
  static Pattern op(OpId op, std::initializer_list<Pattern> operands);
  // Another result of the node that the pattern stands for.
  Pattern result(size_t index) const;
  // The first of these that matches.
  static Pattern either(std::initializer_list<Pattern> alternatives);

  struct Node;
  const Node* node() const { return node_.get(); }

 private:
  explicit Pattern(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

// An operand that may be absent.
Pattern maybe(const Pattern& x);
// x cast to any type, or x itself.
Pattern maybe_cast(const Pattern& x);

// What the parts of a pattern stand for in a graph.
class Match {
 public:
  bool has(const Pattern& p) const;
  ValueId operator[](const Pattern& p) const;
  // The node of an op pattern.
  const GraphNode& node(const Pattern& p) const { return graph_->node(graph_->value((*this)[p]).producer); }
  template <class P>
  const P& params(const Pattern& p) const {
    return node(p).params.get<P>();
  }
  // The node whose first result the whole pattern is, and those behind it.
  NodeId root() const { return nodes_.front(); }
  const std::vector<NodeId>& nodes() const { return nodes_; }

 private:
  friend class Matching;
  const Graph* graph_ = nullptr;
  std::vector<std::pair<const Pattern::Node*, ValueId>> bound_;
  std::vector<NodeId> nodes_;
};

// The match of a pattern whose value is the first result of `root`. Constants are asked about when all else fits.
std::optional<Match> match(Graph& graph, const Pattern& pattern, NodeId root, std::string_view asker);

// The element of a constant of one element, if it is a real number.
std::optional<double> number_of(Graph& graph, ValueId v, std::string_view asker);

// A result of these nodes that another node reads as well; kNone: there is none. The results of the first node and
// those in `kept` may be read.
ValueId read_outside(const Graph& graph, std::span<const NodeId> nodes, std::initializer_list<ValueId> kept = {});

// Why a match, or other nodes, must not be replaced: something else reads what would be computed inside. Nothing: they
// may.
std::optional<Attempt> objection(const Graph& graph, std::span<const NodeId> nodes,
                                 std::initializer_list<ValueId> kept = {});
inline std::optional<Attempt> objection(const Graph& graph, const Match& m, std::initializer_list<ValueId> kept = {}) {
  return objection(graph, m.nodes(), kept);
}

}  // namespace tenon
