#include "ir/rewrite.h"

#include <fmt/format.h>

#include <map>

#include "ir/infer_readers.h"
#include "ir/measure.h"
#include "ir/verify.h"

namespace tenon {

namespace {

// Rules that make work for each other without end would run for ever; no sensible sequence is longer.
constexpr int kMostGenerations = 64;

// Goes through the nodes in data-flow order, again and again, and tries the rules where something changed. It ends when
// a look at every node finds nothing.
class Rewriting {
 public:
  Rewriting(Graph& graph, std::span<const Rule> rules, ChangeLog& log, const RewriteOptions& options)
      : graph_(graph), log_(log), options_(options), rules_(all_ops().size()) {
    for (const Rule& rule : rules)
      for (OpId op : rule.roots.empty() ? all_ops() : rule.roots) rules_[static_cast<size_t>(op)].push_back(&rule);
  }

  Status run() {
    const size_t misses_before = log_.misses.size();
    for (size_t rounds = 0;; ++rounds) {
      // What a rule said before the last look may not hold any more.
      log_.misses.resize(misses_before);
      const size_t changes_before = log_.changes.size();
      for (const GraphNode& node : graph_.nodes()) mark(node.id);
      while (marked_ > 0) {
        for (NodeId id = graph_.first_node(); id != kNone;) {
          TN_ASSIGN_OR_RETURN(id, visit(id));
        }
      }
      const size_t changes = log_.changes.size() - changes_before;
      if (changes == 0) return {};
      if (rounds > 0) log_.found_late += changes;
    }
  }

 private:
  const std::vector<const Rule*>& rules_of(NodeId id) const { return rules_[static_cast<size_t>(graph_.node(id).op)]; }

  void mark(NodeId id) {
    if (!graph_.node(id).is_placed() || rules_of(id).empty()) return;
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
    for (const Rule* rule : rules_of(id)) {
      Attempt attempt = rule->match(graph_, id);
      std::optional<std::string> why = attempt.patch ? refusal(*attempt.patch) : std::move(attempt.reason);
      if (why && !why->empty()) log_.misses.push_back({rule->name, graph_.node(id).name, std::move(*why)});
      if (!attempt.patch || why) continue;
      TN_RETURN_IF_ERROR(apply(*rule, *attempt.patch));
      return true;
    }
    return false;
  }

  std::optional<std::string> refusal(const Patch& patch) const {
    if (auto why = patch.refusal()) return why;
    if (options_.must_descend && change_by(patch) >= Measure{}) return "it would not make the graph smaller";
    return options_.objection ? options_.objection(patch) : std::nullopt;
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
    return options_.applied ? options_.applied(log_.changes.back(), log_.changes.size() - 1) : Status();
  }

  // A new node, and the makers of its operands, which may have fewer readers now.
  void mark_around(NodeId id) {
    mark(id);
    for (ValueId v : graph_.node(id).inputs)
      if (v != kNone && graph_.value(v).producer != kNone) mark(graph_.value(v).producer);
  }

  Graph& graph_;
  ChangeLog& log_;
  const RewriteOptions& options_;
  std::vector<std::vector<const Rule*>> rules_;  // by op
  Table<NodeId, char> is_marked_;
  size_t marked_ = 0;
  std::map<NodeId, int> generation_;  // how many patches led to a node
};

Status rewrite_with_bodies(Graph& graph, std::span<const Rule> rules, ChangeLog& log, const RewriteOptions& options);

// What a body takes from outside and is a constant by now is a constant inside as well, for rules to see.
Status pass_constants_inside(Graph& graph, NodeId id) {
  for (const auto& body : graph.node(id).bodies) {
    std::vector<ValueId> changed;
    for (const GraphCapture& c : body->captures) {
      const GraphValue& outer = graph.value(c.outer);
      if (outer.constant == kNone || body->value(c.inner).uses.empty()) continue;
      const ValueId inside = body->value_of(outer.constant, outer.name);
      GraphValue& value = body->value(inside);
      value.known = outer.known;
      value.known_from = outer.known_from;
      value.in_file = outer.in_file;
      body->replace_uses(c.inner, inside);
      changed.push_back(inside);
    }
    TN_RETURN_IF_ERROR(infer_readers(*body, changed));
  }
  graph.drop_unread_captures(id);
  return {};
}

Status rewrite_bodies(Graph& graph, NodeId id, std::span<const Rule> rules, ChangeLog& log,
                      const RewriteOptions& options) {
  const GraphNode& node = graph.node(id);
  const size_t changes = log.changes.size();
  TN_RETURN_IF_ERROR(pass_constants_inside(graph, id));
  for (const auto& body : node.bodies) TN_RETURN_IF_ERROR(rewrite_with_bodies(*body, rules, log, options));
  if (log.changes.size() == changes) return {};
  for (ValueId v : graph.drop_unread_captures(id))
    if (graph.value(v).producer != kNone) remove_if_dead(graph, graph.value(v).producer);
  std::vector<ValueId> operands;
  for (ValueId v : node.inputs)
    if (v != kNone) operands.push_back(v);
  return infer_readers(graph, operands);
}

Status rewrite_with_bodies(Graph& graph, std::span<const Rule> rules, ChangeLog& log, const RewriteOptions& options) {
  const size_t misses_before = log.misses.size();
  // What rules find in bodies depends on what the nodes around them know, and the reverse.
  for (size_t changes = SIZE_MAX; changes != log.changes.size();) {
    changes = log.changes.size();
    log.misses.resize(misses_before);
    for (NodeId id : graph.node_ids()) TN_RETURN_IF_ERROR(rewrite_bodies(graph, id, rules, log, options));
    TN_RETURN_IF_ERROR(Rewriting(graph, rules, log, options).run());
  }
  return {};
}

}  // namespace

Status rewrite(Graph& graph, std::span<const Rule> rules, ChangeLog& log, const RewriteOptions& options) {
  TN_RETURN_IF_ERROR(rewrite_with_bodies(graph, rules, log, options));
  // Once, from the outside: bodies may lie in bodies a thousand deep.
  return kVerifyPatches ? verify(graph) : Status();
}

}  // namespace tenon
