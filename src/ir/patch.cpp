#include "ir/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/infer_node.h"
#include "ir/infer_readers.h"
#include "ir/readers.h"

namespace tenon {

namespace {

// An ONNX node whose input is forwarded is written with another name. That says all when the value is an input of the
// node; values inside of its group, and those that its bodies take from outside, have no place there.
void touch_unless_slot(Graph& graph, GroupId group, ValueId v) {
  GroupId outermost = group;
  while (outermost != kNone && graph.group(outermost).call != kNone) outermost = graph.group(outermost).call;
  if (outermost != kNone && std::ranges::count(graph.group(outermost).slots, v) == 0) graph.touch(group);
}

// An ONNX node of several canonical ones is written as it was read while anything of it is needed, so none of them goes
// alone.
std::vector<NodeId> nodes_that_die_together(const Graph& graph, NodeId id) {
  const GroupId group = graph.node(id).group;
  if (group == kNone || graph.group(group).touched) return {id};
  std::vector<NodeId> placed;
  for (NodeId n : graph.group(group).nodes)
    if (graph.node(n).is_placed()) placed.push_back(n);
  return placed;
}

// Whether an output of the graph reads the value, or a node that is not among these.
template <class IsAmong>
bool is_read_outside(const Graph& graph, ValueId v, const IsAmong& is_among) {
  return std::ranges::any_of(graph.value(v).uses, [&](const Use& use) {
    return use.kind == Use::Kind::Output || (use.kind != Use::Kind::Slot && !is_among(use.node));
  });
}

// Whether somebody other than the spelling of a group reads a constant.
bool is_read(const Graph& graph, ValueId v) {
  return std::ranges::any_of(graph.value(v).uses, [](const Use& use) { return use.kind != Use::Kind::Slot; });
}

void add_constants(const Graph& graph, const GraphNode& node, std::set<ValueId>& constants) {
  for (ValueId v : node.inputs)
    if (v != kNone && graph.value(v).constant != kNone) constants.insert(v);
}

int64_t bytes_of(const Constant& constant) {
  const Dim elements = element_count(Shape(constant.dims.begin(), constant.dims.end()));
  return elements.is_constant() ? storage_bytes(constant.dtype, elements.value()).value_or(0) : 0;
}

}  // namespace

std::string node_text(const GraphNode& node) {
  return node.name.empty() ? std::string(op_def(node.op).name)
                           : fmt::format("{} '{}'", op_def(node.op).name, node.name);
}

Patch::Patch(Graph& graph, NodeId root, std::string_view label)
    : Builder(graph), root_(root), label_(label), first_node_(graph.node_id_count()),
      first_value_(graph.value_count()) {
  set_name(graph.node(root).name);
}

Patch::~Patch() {
  if (!applied_) graph().truncate(first_node_, first_value_);
}

// What else was made was made in vain.
std::vector<NodeId> Patch::new_nodes() const {
  std::set<NodeId> needed;
  std::vector<ValueId> open;
  for (const auto& [old, made] : redefined_) open.push_back(made);
  for (const auto& [old, existing] : forwarded_) open.push_back(existing);
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    const NodeId maker = v == kNone ? NodeId(kNone) : graph().value(v).producer;
    if (maker == kNone || !is_new(maker) || !needed.insert(maker).second) continue;
    const auto operands = operands_of(graph().node(maker));
    open.insert(open.end(), operands.begin(), operands.end());
  }
  std::vector<NodeId> nodes;
  for (NodeId id : made_)
    if (needed.contains(id)) nodes.push_back(id);
  return nodes;
}

std::optional<size_t> Patch::group_of(NodeId id) const {
  for (size_t i = 0; i < groups_.size(); ++i)
    if (std::ranges::find(groups_[i].nodes, id) != groups_[i].nodes.end()) return i;
  return std::nullopt;
}

std::vector<NodeId> Patch::dying_nodes() const {
  const Graph& g = graph();
  std::set<ValueId> replaced, read;
  std::vector<NodeId> open{root_};
  const auto replace = [&](ValueId old) {
    replaced.insert(old);
    open.push_back(g.value(old).producer);
  };
  for (const auto& [old, made] : redefined_) replace(old);
  for (const auto& [old, existing] : forwarded_) {
    replace(old);
    read.insert(existing);
  }
  for (NodeId id : new_nodes())
    for (ValueId v : operands_of(g.node(id))) read.insert(v);
  // A group of which a node is replaced is not written as it was read any more.
  std::set<GroupId> taken_apart;
  for (const auto& [old, made] : redefined_)
    if (const NodeId maker = g.value(old).producer; maker != kNone) taken_apart.insert(g.node(maker).group);
  std::set<NodeId> dying;
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (id == kNone || is_new(id) || !g.node(id).is_placed() || dying.contains(id)) continue;
    const std::vector<NodeId> unit =
        taken_apart.contains(g.node(id).group) ? std::vector{id} : nodes_that_die_together(g, id);
    const auto is_needed = [&](ValueId v) {
      if (v == kNone || replaced.contains(v)) return false;
      return read.contains(v) || is_read_outside(g, v, [&](NodeId reader) {
               return dying.contains(reader) || std::ranges::find(unit, reader) != unit.end();
             });
    };
    if (std::ranges::any_of(unit, [&](NodeId n) { return std::ranges::any_of(g.node(n).outputs, is_needed); }))
      continue;
    dying.insert(unit.begin(), unit.end());
    for (NodeId n : unit)
      for (ValueId v : operands_of(g.node(n)))
        if (v != kNone) open.push_back(g.value(v).producer);
  }
  return {dying.begin(), dying.end()};
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
  if (!late_operands(new_nodes(), place_of_nodes())) return "one of its operands depends on one of its results";
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
    const auto operands = operands_of(node);
    open.insert(open.end(), operands.begin(), operands.end());
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

// The groups of the new nodes become groups of the graph.
void Patch::place_groups(const std::vector<NodeId>& nodes) {
  const auto as_placed = [&](ValueId& v) {
    for (const auto& [old, made] : redefined_)
      if (v == made) v = old;
  };
  for (Group& group : groups_) {
    std::erase_if(group.nodes, [&](NodeId id) { return std::ranges::find(nodes, id) == nodes.end(); });
    if (group.nodes.empty()) continue;
    std::ranges::for_each(group.slots, as_placed);
    std::ranges::for_each(group.results, as_placed);
    const std::vector<NodeId> members = group.nodes;
    const GroupId id = graph().add_group(std::move(group));
    for (NodeId member : members) graph().node(member).group = id;
  }
}

// Everything new came from everything that went, and from the root where it stays.
void Patch::note_provenance(const Change& change) {
  Graph& g = graph();
  Provenance from;
  std::vector<NodeId> sources = change.gone;
  if (std::ranges::find(sources, root_) == sources.end()) sources.push_back(root_);
  for (NodeId id : sources) {
    const GraphNode& node = g.node(id);
    if (node.made_from)
      from.add(*node.made_from);
    else
      from.add_node(node.name);
  }
  from.add_rule(label_);
  const auto shared = std::make_shared<const Provenance>(std::move(from));
  const auto note_constant = [&](ValueId v) {
    Constant* constant = v == kNone ? nullptr : g.constant(v);
    if (constant && constant->is_literal() && !constant->made_from) constant->made_from = shared;
  };
  for (const auto& [old, existing] : forwarded_) note_constant(existing);
  for (NodeId id : change.made) {
    g.node(id).made_from = shared;
    for (ValueId v : g.node(id).inputs) note_constant(v);
  }
}

// Constants that only the new nodes will read, or those that read a forwarded value.
std::set<ValueId> Patch::unread_constants(const std::vector<NodeId>& nodes) const {
  std::set<ValueId> constants;
  for (NodeId id : nodes) add_constants(graph(), graph().node(id), constants);
  for (const auto& [old, existing] : forwarded_)
    if (graph().value(existing).constant != kNone) constants.insert(existing);
  std::erase_if(constants, [&](ValueId v) { return is_read(graph(), v); });
  return constants;
}

Result<Patch::Change> Patch::apply() {
  if (const auto why = refusal()) return error(Code::Internal, "{} cannot be applied: {}", label_, *why);
  Graph& g = graph();
  Change change{.label = label_, .reason = reason_, .root = g.node(root_).name};
  const std::vector<NodeId> nodes = new_nodes();
  const std::set<ValueId> unread = unread_constants(nodes);
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
  place_groups(nodes);
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
    // What is known of one is true of the other. An input or a weight stays as it is declared.
    if (GraphValue& value = g.value(existing); value.producer != kNone)
      value.type = *merge(value.type, g.value(old).type);
    g.replace_uses(old, existing);
    change.redefined.push_back(existing);
  }
  if (g.node(root_).is_placed()) maybe_dead.push_back(root_);
  for (NodeId id : maybe_dead) {
    if (!g.node(id).is_placed()) continue;
    for (NodeId gone : remove_if_dead(g, id)) {
      change.gone.push_back(gone);
      change.gone_names.push_back(g.node(gone).name);
      change.removed.push_back(node_text(g.node(gone)));
    }
  }
  for (NodeId id : nodes) {
    change.made.push_back(id);
    change.added.emplace_back(op_def(g.node(id).op).name);
  }
  note_provenance(change);
  std::set<ValueId> given_up;
  for (NodeId id : change.gone) add_constants(g, g.node(id), given_up);
  for (const auto& [old, existing] : forwarded_)
    if (g.value(old).constant != kNone) given_up.insert(old);
  for (ValueId v : unread)
    if (is_read(g, v)) change.bytes += bytes_of(*g.constant(v));
  for (ValueId v : given_up)
    if (!is_read(g, v)) change.bytes -= bytes_of(*g.constant(v));
  TN_RETURN_IF_ERROR(infer_readers(g, change.redefined).in(label_));
  return change;
}

std::vector<NodeId> remove_if_dead(Graph& graph, NodeId node) {
  std::vector<NodeId> gone, open{node};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (!graph.node(id).is_placed()) continue;
    const std::vector<NodeId> unit = nodes_that_die_together(graph, id);
    const auto is_needed = [&](ValueId v) {
      return v != kNone &&
             is_read_outside(graph, v, [&](NodeId reader) { return std::ranges::find(unit, reader) != unit.end(); });
    };
    if (std::ranges::any_of(unit, [&](NodeId n) { return std::ranges::any_of(graph.node(n).outputs, is_needed); }))
      continue;
    for (NodeId n : unit) {
      const std::vector<ValueId> operands = operands_of(graph.node(n));
      graph.remove(n);
      gone.push_back(n);
      for (ValueId v : operands)
        if (v != kNone && graph.value(v).producer != kNone) open.push_back(graph.value(v).producer);
    }
  }
  return gone;
}

}  // namespace tenon
