#include "ir/rewrite.h"

#include <fmt/format.h>

#include <map>

#include "ir/verify.h"

namespace tenon {

namespace {

// Rules that make work for each other without end would run for ever; no sensible sequence is longer.
constexpr int kMostGenerations = 64;

// Goes through the nodes in data-flow order, again and again, and tries the rules where something changed.
class Rewriting {
 public:
  Rewriting(Graph& graph, std::span<const Rule> rules, ChangeLog& log) : graph_(graph), log_(log) {
    for (const Rule& rule : rules)
      for (OpId op : rule.roots) rules_[op].push_back(&rule);
  }

  Status run() {
    for (const GraphNode& node : graph_.nodes()) mark(node.id);
    while (marked_ > 0) {
      for (NodeId id = graph_.first_node(); id != kNone;) {
        TN_ASSIGN_OR_RETURN(id, visit(id));
      }
    }
    return {};
  }

 private:
  void mark(NodeId id) {
    if (!graph_.node(id).is_placed() || !rules_.contains(graph_.node(id).op)) return;
    if (is_marked_.size() <= id.index()) is_marked_.resize(graph_.node_id_count());
    if (is_marked_[id]) return;
    is_marked_[id] = true;
    ++marked_;
  }

  // Returns the node to go on with.
  Result<NodeId> visit(NodeId id) {
    const NodeId before = graph_.previous_node(id);
    if (!is_marked_.has(id) || !is_marked_[id]) return graph_.next_node(id);
    is_marked_[id] = false;
    --marked_;
    TN_ASSIGN_OR_RETURN(const bool fired, try_rules(id));
    if (!fired) return graph_.next_node(id);
    if (graph_.node(id).is_placed()) return id;
    return before != kNone && graph_.node(before).is_placed() ? graph_.next_node(before) : graph_.first_node();
  }

  Result<bool> try_rules(NodeId id) {
    for (const Rule* rule : rules_.at(graph_.node(id).op)) {
      Attempt attempt = rule->match(graph_, id);
      std::optional<std::string> why = attempt.patch ? attempt.patch->refusal() : std::move(attempt.reason);
      if (why && !why->empty()) log_.misses.push_back({rule->name, graph_.node(id).name, std::move(*why)});
      if (!attempt.patch || why) continue;
      TN_RETURN_IF_ERROR(apply(*rule, *attempt.patch));
      return true;
    }
    return false;
  }

  Status apply(const Rule& rule, Patch& patch) {
    const int generation = 1 + generation_[patch.root()];
    if (generation > kMostGenerations)
      return error(Code::Internal, "rules replace each other's results endlessly; the last rule is '{}'", rule.name);
    auto change = patch.apply();
    if (!change.ok()) return std::move(change).status();
    for (NodeId gone : change->gone)
      if (is_marked_.has(gone) && is_marked_[gone]) {
        is_marked_[gone] = false;
        --marked_;
      }
    for (NodeId id : change->made) {
      generation_[id] = generation;
      mark_around(id);
    }
    for (ValueId v : change->redefined)
      for (const Use& use : graph_.value(v).uses)
        if (use.node != kNone) mark(use.node);
    if (kVerifyPatches) TN_RETURN_IF_ERROR(verify_nodes(graph_, change->made).in(std::string(rule.name)));
    log_.changes.push_back(std::move(*change));
    return {};
  }

  // A new node, and the makers of its operands, which may have fewer readers now.
  void mark_around(NodeId id) {
    mark(id);
    for (ValueId v : graph_.node(id).inputs)
      if (v != kNone && graph_.value(v).producer != kNone) mark(graph_.value(v).producer);
  }

  Graph& graph_;
  ChangeLog& log_;
  std::map<OpId, std::vector<const Rule*>> rules_;
  Table<NodeId, char> is_marked_;
  size_t marked_ = 0;
  std::map<NodeId, int> generation_;  // how many patches led to a node
};

}  // namespace

Status rewrite(Graph& graph, std::span<const Rule> rules, ChangeLog& log) {
  for (GraphNode& node : graph.nodes())
    for (const auto& body : node.bodies) TN_RETURN_IF_ERROR(rewrite(*body, rules, log));
  TN_RETURN_IF_ERROR(Rewriting(graph, rules, log).run());
  return kVerifyPatches ? verify(graph) : Status();
}

}  // namespace tenon
