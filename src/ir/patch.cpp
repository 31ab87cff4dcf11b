#include "ir/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/infer_node.h"
#include "ir/infer_readers.h"

namespace tenon {

namespace {

std::string node_text(const GraphNode& node) {
  return node.name.empty() ? std::string(op_def(node.op).name)
                           : fmt::format("{} '{}'", op_def(node.op).name, node.name);
}

// An ONNX node whose input is forwarded is written with another name. That says all when the value is an input of the
// node; values inside of its group, and those that its bodies take from outside, have no place there.
void touch_unless_slot(Graph& graph, GroupId group, ValueId v) {
  GroupId outermost = group;
  while (outermost != kNone && graph.group(outermost).call != kNone) outermost = graph.group(outermost).call;
  if (outermost != kNone && std::ranges::count(graph.group(outermost).slots, v) == 0) graph.touch(group);
}

}  // namespace

Patch::Patch(Graph& graph, NodeId root, std::string_view label)
    : Builder(graph), root_(root), label_(label), first_node_(graph.node_id_count()),
      first_value_(graph.value_count()) {
  set_name(graph.node(root).name);
}

Patch::~Patch() {
  if (!applied_) graph().truncate(first_node_, first_value_);
}

// What the results are computed from, in the order in which it was made; the rest was made in vain.
std::vector<NodeId> Patch::needed_nodes() const {
  std::set<NodeId> needed;
  std::vector<ValueId> open;
  for (const auto& [old, made] : redefined_) open.push_back(made);
  for (const auto& [old, existing] : forwarded_) open.push_back(existing);
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    const NodeId maker = v == kNone ? NodeId(kNone) : graph().value(v).producer;
    if (maker == kNone || !is_new(maker) || !needed.insert(maker).second) continue;
    const GraphNode& node = graph().node(maker);
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    for (const auto& body : node.bodies)
      for (const GraphCapture& c : body->captures) open.push_back(c.outer);
  }
  std::vector<NodeId> nodes;
  for (NodeId id : made_)
    if (needed.contains(id)) nodes.push_back(id);
  return nodes;
}

std::optional<std::string> Patch::forward_refusal(ValueId old, ValueId existing) const {
  const Graph& g = graph();
  if (!merge(g.value(old).type, g.value(existing).type))
    return fmt::format("'{}' is {}, but its replacement is {}", g.value(old).name, g.value(old).type.to_string(),
                       g.value(existing).type.to_string());
  const auto leaves = [&](ValueId v) {
    return std::ranges::any_of(g.value(v).uses, [](const Use& use) { return use.kind == Use::Kind::Output; });
  };
  // A graph's output is the result of a node, under one name.
  if (leaves(old) && (g.value(existing).producer == kNone || leaves(existing)))
    return fmt::format("'{}' would need two names", g.value(existing).name);
  return std::nullopt;
}

std::optional<std::string> Patch::refusal() const {
  if (!status().ok()) return status().to_string();
  if (redefined_.empty() && forwarded_.empty()) return "it replaces nothing";
  const Graph& g = graph();
  for (const auto& [old, made] : redefined_) {
    if (!is_new(made) || g.value(made).producer == kNone)
      return "a value is redefined by a value that the patch does not create";
    if (!merge(g.value(old).type, g.value(made).type))
      return fmt::format("'{}' is {}, but it would become {}", g.value(old).name, g.value(old).type.to_string(),
                         g.value(made).type.to_string());
  }
  for (const auto& [old, existing] : forwarded_)
    if (auto why = forward_refusal(old, existing)) return why;
  if (!late_operands(needed_nodes(), place_of_nodes())) return "one of its operands depends on one of its results";
  return std::nullopt;
}

// The first node that reads what the patch computes; none when only outputs do.
NodeId Patch::first_reader() const {
  const Graph& g = graph();
  NodeId first = kNone;
  const auto look_at = [&](ValueId v) {
    for (const Use& use : g.value(v).uses)
      if (use.node != kNone && (first == kNone || g.is_before(use.node, first))) first = use.node;
  };
  for (const auto& [old, made] : redefined_) look_at(old);
  for (const auto& [old, existing] : forwarded_)
    if (is_new(existing)) look_at(old);
  return first;
}

NodeId Patch::place_of_nodes() const {
  const NodeId reader = first_reader();
  return reader == kNone || graph().is_before(root_, reader) ? root_ : reader;
}

// Nodes that the patch reads from and that are not before its place, in order: they move there. Nothing when one of
// them reads what the patch computes.
std::optional<std::vector<NodeId>> Patch::late_operands(const std::vector<NodeId>& nodes, NodeId before) const {
  const Graph& g = graph();
  std::set<NodeId> late;
  std::vector<ValueId> open;
  const auto add_operands = [&](const GraphNode& node) {
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    for (const auto& body : node.bodies)
      for (const GraphCapture& c : body->captures) open.push_back(c.outer);
  };
  for (NodeId id : nodes) add_operands(g.node(id));
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (v == kNone) continue;
    for (const auto& [old, made] : redefined_)
      if (v == old) return std::nullopt;
    const NodeId maker = g.value(v).producer;
    if (maker == kNone || is_new(maker) || g.is_before(maker, before) || !late.insert(maker).second) continue;
    add_operands(g.node(maker));
  }
  std::vector<NodeId> ordered(late.begin(), late.end());
  std::ranges::sort(ordered, [&](NodeId a, NodeId b) { return g.is_before(a, b); });
  return ordered;
}

Result<Patch::Change> Patch::apply() {
  if (const auto why = refusal()) return error(Code::Internal, "{} cannot be applied: {}", label_, *why);
  Graph& g = graph();
  Change change{label_, reason_, g.node(root_).name, {}, {}, {}, {}, {}};
  const std::vector<NodeId> nodes = needed_nodes();
  const NodeId place = place_of_nodes();
  const auto late = late_operands(nodes, place);
  for (NodeId id : *late) g.move(id, place);
  for (const auto& [old, made] : redefined_)
    for (NodeId id : nodes) {
      for (ValueId& v : g.node(id).inputs)
        if (v == made) v = old;
      for (const auto& body : g.node(id).bodies)
        for (GraphCapture& c : body->captures)
          if (c.outer == made) c.outer = old;
    }
  for (NodeId id : nodes) g.place(id, place);
  applied_ = true;

  std::vector<NodeId> maybe_dead;
  for (const auto& [old, made] : redefined_) {
    const NodeId maker = g.value(made).producer;
    const auto& outputs = g.node(maker).outputs;
    const auto output = static_cast<size_t>(std::ranges::find(outputs, made) - outputs.begin());
    if (const NodeId before = g.value(old).producer; before != kNone) maybe_dead.push_back(before);
    GraphValue& value = g.value(old);
    const GraphValue& fresh = g.value(made);
    value.type = *merge(fresh.type, value.type);
    value.known = fresh.known ? fresh.known : value.known;
    value.known_from = fresh.known ? fresh.known_from : value.known_from;
    value.folds = fresh.folds;
    g.take_over(old, maker, output);
    change.redefined.push_back(old);
  }
  for (const auto& [old, existing] : forwarded_) {
    if (const NodeId before = g.value(old).producer; before != kNone) maybe_dead.push_back(before);
    const std::vector<Use> uses = g.value(old).uses;  // touching takes some away
    for (const Use& use : uses)
      if (use.node != kNone) touch_unless_slot(g, g.node(use.node).group, old);
    g.replace_uses(old, existing);
    change.redefined.push_back(existing);
  }
  if (g.node(root_).is_placed()) maybe_dead.push_back(root_);
  for (NodeId id : maybe_dead) {
    if (!g.node(id).is_placed()) continue;
    for (NodeId gone : remove_if_dead(g, id)) {
      change.gone.push_back(gone);
      change.removed.push_back(node_text(g.node(gone)));
    }
  }
  for (NodeId id : nodes) {
    change.made.push_back(id);
    change.added.emplace_back(op_def(g.node(id).op).name);
  }
  TN_RETURN_IF_ERROR(infer_readers(g, change.redefined).in(label_));
  return change;
}

std::vector<NodeId> remove_if_dead(Graph& graph, NodeId node) {
  std::vector<NodeId> gone, open{node};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    const GraphNode& dead = graph.node(id);
    const auto is_read = [&](ValueId v) {
      return v != kNone &&
             std::ranges::any_of(graph.value(v).uses, [&](const Use& use) { return use.kind != Use::Kind::Slot; });
    };
    if (!dead.is_placed() || std::ranges::any_of(dead.outputs, is_read)) continue;
    std::vector<ValueId> operands = dead.inputs;
    for (const auto& body : dead.bodies)
      for (const GraphCapture& c : body->captures) operands.push_back(c.outer);
    graph.remove(id);
    gone.push_back(id);
    for (ValueId v : operands)
      if (v != kNone && graph.value(v).producer != kNone) open.push_back(graph.value(v).producer);
  }
  return gone;
}

}  // namespace tenon
