#include "ir/graph.h"

#include <algorithm>

namespace tenon {

namespace {

Graph clone_with(const Graph& graph, const std::shared_ptr<ConstantPool>& constants) {
  Graph copy = graph;
  copy.constants = constants;
  for (GraphNode& node : copy.nodes())
    for (auto& body : node.bodies) body = std::make_shared<Graph>(clone_with(*body, constants));
  return copy;
}

}  // namespace

Graph Graph::clone() const { return clone_with(*this, std::make_shared<ConstantPool>(*constants)); }

// --- values -----------------------------------------------------------------------------------------------------

ValueId Graph::add_value(std::string value_name, Type type) {
  GraphValue v;
  v.name = std::move(value_name);
  v.type = std::move(type);
  return values_.add(std::move(v));
}

ValueId Graph::add_constant(Constant constant, std::string value_name) {
  return value_of(constants->add(std::move(constant)), std::move(value_name));
}

ValueId Graph::value_of(ConstantId id, std::string value_name) {
  const Constant& c = (*constants)[id];
  const auto place = std::ranges::lower_bound(literal_values_, id, {}, &std::pair<ConstantId, ValueId>::first);
  const bool shared = c.is_literal() && value_name.empty();
  if (shared && place != literal_values_.end() && place->first == id) return place->second;
  const ValueId v = add_value(std::move(value_name), Type::tensor(c.dtype, Shape(c.dims.begin(), c.dims.end())));
  value(v).constant = id;
  value(v).folds = true;
  if (shared) literal_values_.insert(place, {id, v});
  return v;
}

Constant* Graph::constant(ValueId v) {
  const ConstantId id = value(v).constant;
  return id == kNone ? nullptr : &(*constants)[id];
}

const Constant* Graph::constant(ValueId v) const {
  const ConstantId id = value(v).constant;
  return id == kNone ? nullptr : &(*constants)[id];
}

const Tensor* Graph::elements_at_hand(ValueId v) const {
  const Constant* found = constant(v);
  return found && found->tensor.defined() ? &found->tensor : nullptr;
}

namespace {

// Not a weight.
bool is_fixed(const Constant& c) { return c.is_literal() || c.from_node; }
bool answers_questions(const Constant& c, const ConstantPool& pool) {
  return c.may_be_asked() && (pool.may_ask_weights || is_fixed(c));
}

}  // namespace

void Graph::note_asked(ConstantId id, std::string_view asker) {
  (*constants)[id].note({{Property::Kind::Elements}, Answer::Unknown, std::string(asker)});
}

Answer Graph::ask(ValueId v, const Property& property, std::string_view asker) {
  Constant* asked = constant(v);
  if (!asked || !answers_questions(*asked, *constants)) return Answer::Unknown;
  const bool is_there = asked->read().ok();
  const Answer answer = is_there ? tenon::ask(asked->tensor, property) : Answer::Unknown;
  // Elements that cannot be read here could be elsewhere, and give another plan.
  if (!is_there || answer != Answer::Unknown) asked->note({property, answer, std::string(asker)});
  return answer;
}

Answer Graph::ask_fixed(ValueId v, const Property& property, std::string_view asker) {
  const Constant* asked = constant(v);
  return asked && is_fixed(*asked) ? ask(v, property, asker) : Answer::Unknown;
}

const Tensor* Graph::ask_elements(ValueId v, std::string_view asker) {
  const Constant* asked = constant(v);
  return asked && answers_questions(*asked, *constants) ? require(v, asker) : nullptr;
}

const Tensor* Graph::require(ValueId v, std::string_view asker) {
  Constant* required = constant(v);
  if (!required) return nullptr;
  note_asked(value(v).constant, asker);
  return required->read().ok() ? &required->tensor : nullptr;
}

// --- nodes and their order --------------------------------------------------------------------------------------

namespace {

// Room between neighbours, so that most nodes are placed without numbering the others anew.
constexpr int64_t kGap = int64_t{1} << 20;

}  // namespace

std::vector<NodeId> Graph::node_ids() const {
  std::vector<NodeId> ids;
  ids.reserve(placed_);
  for (NodeId id = first_; id != kNone; id = nodes_[id].next_) ids.push_back(id);
  return ids;
}

NodeId Graph::add_node(GraphNode node) {
  const NodeId id = nodes_.add(std::move(node));
  GraphNode& added = nodes_[id];
  added.id = id;
  added.previous_ = added.next_ = kNone;
  added.order_ = GraphNode::kNotPlaced;
  for (ValueId v : added.outputs)
    if (v != kNone) values_[v].producer = id;
  return id;
}

void Graph::place(NodeId id, NodeId before) {
  link(nodes_[id], before);
  ++placed_;
  add_uses(nodes_[id]);
}

void Graph::move(NodeId id, NodeId before) {
  if (id == before) return;
  unlink(nodes_[id]);
  link(nodes_[id], before);
}

void Graph::link(GraphNode& node, NodeId before) {
  node.next_ = before;
  node.previous_ = before == kNone ? last_ : nodes_[before].previous_;
  (node.previous_ == kNone ? first_ : nodes_[node.previous_].next_) = node.id;
  (before == kNone ? last_ : nodes_[before].previous_) = node.id;
  const int64_t low = node.previous_ == kNone ? 0 : nodes_[node.previous_].order_;
  const int64_t high = before == kNone ? low + 2 * kGap : nodes_[before].order_;
  node.order_ = low + (high - low) / 2;
  if (node.order_ == low) number_anew();
}

void Graph::unlink(GraphNode& node) {
  (node.previous_ == kNone ? first_ : nodes_[node.previous_].next_) = node.next_;
  (node.next_ == kNone ? last_ : nodes_[node.next_].previous_) = node.previous_;
  node.previous_ = node.next_ = kNone;
}

void Graph::number_anew() {
  int64_t order = 0;
  for (NodeId id = first_; id != kNone; id = nodes_[id].next_) nodes_[id].order_ = order += kGap;
}

void Graph::remove(NodeId id) {
  GraphNode& node = nodes_[id];
  remove_uses(node);
  unlink(node);
  node.order_ = GraphNode::kNotPlaced;
  --placed_;
  for (ValueId v : node.outputs)
    if (v != kNone && values_[v].producer == id) values_[v].producer = kNone;
  touch(node.group);
}

// --- uses -------------------------------------------------------------------------------------------------------

void Graph::add_uses(const GraphNode& node) {
  for (uint32_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNone) values_[node.inputs[i]].uses.push_back({Use::Kind::Input, node.id, kNone, i});
  for (uint32_t b = 0; b < node.bodies.size(); ++b)
    for (const GraphCapture& c : node.bodies[b]->captures)
      values_[c.outer].uses.push_back({Use::Kind::Capture, node.id, kNone, b});
}

void Graph::remove_use(ValueId v, const Use& use) {
  auto& uses = values_[v].uses;
  if (const auto it = std::ranges::find(uses, use); it != uses.end()) uses.erase(it);
}

void Graph::remove_uses(const GraphNode& node) {
  for (uint32_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNone) remove_use(node.inputs[i], {Use::Kind::Input, node.id, kNone, i});
  for (uint32_t b = 0; b < node.bodies.size(); ++b)
    for (const GraphCapture& c : node.bodies[b]->captures) remove_use(c.outer, {Use::Kind::Capture, node.id, kNone, b});
}

std::vector<ValueId> Graph::drop_unread_captures(NodeId id) {
  std::vector<ValueId> dropped;
  GraphNode& node = nodes_[id];
  for (uint32_t b = 0; b < node.bodies.size(); ++b)
    std::erase_if(node.bodies[b]->captures, [&](const GraphCapture& c) {
      if (!node.bodies[b]->value(c.inner).uses.empty()) return false;
      remove_use(c.outer, {Use::Kind::Capture, id, kNone, b});
      dropped.push_back(c.outer);
      return true;
    });
  return dropped;
}

void Graph::add_output(ValueId v, std::string output_name) {
  if (v != kNone) values_[v].uses.push_back({Use::Kind::Output, kNone, kNone, static_cast<uint32_t>(outputs_.size())});
  outputs_.push_back(v);
  output_names_.push_back(std::move(output_name));
}

GroupId Graph::add_group(Group group) {
  const GroupId id = groups_.add(std::move(group));
  Group& added = groups_[id];
  added.slots_as_read = added.slots;
  for (uint32_t i = 0; i < added.slots.size(); ++i)
    if (added.slots[i] != kNone) values_[added.slots[i]].uses.push_back({Use::Kind::Slot, kNone, id, i});
  return id;
}

void Graph::touch(GroupId id) {
  if (id == kNone || groups_[id].touched) return;
  Group& group = groups_[id];
  group.touched = true;
  // It is not written as it was read any more, so it needs only what its nodes read.
  for (uint32_t i = 0; i < group.slots.size(); ++i)
    if (group.slots[i] != kNone) remove_use(group.slots[i], {Use::Kind::Slot, kNone, id, i});
  touch(group.call);
}

void Graph::replace_uses(ValueId old, ValueId other) {
  std::vector<Use> uses = std::move(values_[old].uses);
  values_[old].uses.clear();
  for (const Use& use : uses) {
    values_[other].uses.push_back(use);
    switch (use.kind) {
      case Use::Kind::Input:
        nodes_[use.node].inputs[use.index] = other;
        break;
      case Use::Kind::Capture:
        for (GraphCapture& c : nodes_[use.node].bodies[use.index]->captures)
          if (c.outer == old) c.outer = other;
        break;
      case Use::Kind::Output:
        outputs_[use.index] = other;
        break;
      case Use::Kind::Slot:
        groups_[use.group].slots[use.index] = other;
        break;
    }
  }
}

void Graph::take_over(ValueId old, NodeId id, size_t output) {
  GraphNode& node = nodes_[id];
  const ValueId made = node.outputs[output];
  if (const NodeId before = values_[old].producer; before != kNone) {
    GraphNode& producer = nodes_[before];
    for (ValueId& v : producer.outputs)
      if (v == old) v = kNone;
    touch(producer.group);
  }
  node.outputs[output] = old;
  values_[old].producer = id;
  if (made != kNone) values_[made].producer = kNone;
}

void Graph::truncate(size_t nodes, size_t values) {
  nodes_.resize(nodes);
  values_.resize(values);
  std::erase_if(literal_values_, [&](const auto& entry) { return entry.second.index() >= values; });
}

}  // namespace tenon
