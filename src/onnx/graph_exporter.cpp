#include "onnx/graph_exporter.h"

#include <algorithm>
#include <queue>
#include <ranges>

#include "onnx/references.h"
#include "weights/source_names.h"

namespace tenon {

namespace {

using Names = std::set<std::string_view>;

bool is_untouched(const Graph& graph) {
  for (size_t i = 0; i < graph.group_count(); ++i)
    if (graph.group(GroupId(i)).touched) return false;
  return std::ranges::all_of(graph.nodes(), [](const GraphNode& node) {
    return node.group != kNone &&
           std::ranges::all_of(node.bodies, [](const auto& body) { return is_untouched(*body); });
  });
}

Names names_read(const std::vector<wire::Node>& nodes, const std::vector<wire::ValueInfo>& outputs) {
  Names names;
  for (const wire::Node& node : nodes)
    for (std::string_view name : references_of(node)) names.insert(name);
  for (const wire::ValueInfo& output : outputs) names.insert(output.name);
  return names;
}

Names names_made(const std::vector<wire::Node>& nodes) {
  Names names;
  for (const wire::Node& node : nodes) names.insert(node.outputs.begin(), node.outputs.end());
  return names;
}

// One that had a name around the graph, and has none there any more.
bool is_unnamed_constant(const GraphValue& value) {
  const auto is_slot = [](const Use& use) { return use.kind == Use::Kind::Slot; };
  return value.constant != kNone && !value.in_file && std::ranges::any_of(value.uses, is_slot);
}

bool reads_unnamed_constants(const Graph& body) {
  return body.wire &&
         (std::ranges::any_of(body.values(), is_unnamed_constant) ||
          std::ranges::any_of(body.nodes(), [](const GraphNode& node) {
            return std::ranges::any_of(node.bodies, [](const auto& b) { return reads_unnamed_constants(*b); });
          }));
}

bool is_constant(const wire::Node& node) {
  return node.op_type == "Constant" && canonical_domain(node.domain).empty() && node.outputs.size() == 1;
}

}  // namespace

GraphExporter::GraphExporter(ModelExport& model, const Graph& graph, ValueNames captured)
    : model_(model), graph_(graph), names_(std::move(captured)), group_nodes_(graph.group_count()) {
  for (const auto& [inner, name] : names_) captured_.insert(inner);
  if (graph_.wire)
    for (const wire::Node& node : graph_.wire->nodes) wire_nodes_.insert(&node);
  for (const GraphNode& node : graph_.nodes())
    if (node.group != kNone) group_nodes_[outermost(node.group)].push_back(node.id);
  for (NodeId id = graph_.last_node(); id != kNone; id = graph_.previous_node(id))
    if (std::ranges::none_of(graph_.node(id).outputs,
                             [&](ValueId v) { return v != kNone && is_read(graph_.value(v), unread_); }))
      unread_.insert(id);
}

Status GraphExporter::run(wire::Graph& out) {
  if (graph_.wire)
    begin_as_read(out);
  else
    begin_anew(out);
  TN_RETURN_IF_ERROR(write_nodes());
  write_second_names(out);
  nodes_.insert(nodes_.begin(), constants_.begin(), constants_.end());
  if (graph_.wire && model_.model.wire.training_info.empty()) remove_unneeded(out);
  if (model_.options.normal_form) {
    lift_large_constants(out);
    if (model_.model.wire.training_info.empty()) remove_unread_initializers(out);
    declare_types(out);
  }
  put_in_order(out.nodes);
  return {};
}

// Inputs, outputs and initializers stay.
void GraphExporter::begin_as_read(wire::Graph& out) {
  out = *graph_.wire;
  out.raw = {};
  out.nodes.clear();
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId v = graph_.outputs()[i];
    outputs_.emplace(graph_.output_names()[i], v);
    second_names_.emplace(graph_.output_names()[i], v);
    // A result that leaves the graph has the name that callers know.
    if (v == kNone || graph_.value(v).producer == kNone || graph_.value(v).name == graph_.output_names()[i]) continue;
    if (names_.emplace(v, model_.exported.memory.messages.keep(graph_.output_names()[i])).second) renamed_.insert(v);
  }
  // Nodes that rules made are called after the ones that they replace.
  for (size_t i = 0; i < graph_.group_count(); ++i)
    if (const Group& group = graph_.group(GroupId(i));
        group.call == kNone && !is_made(GroupId(i)) && group_nodes_[GroupId(i)].empty())
      model_.node_names.erase(std::string(group.wire->name));
}

// A body that a rule made, or one of a function, whose names mean something only there.
void GraphExporter::begin_anew(wire::Graph& out) {
  wire::MessageBuilder& messages = model_.exported.memory.messages;
  out.name = messages.keep(graph_.name.empty() ? "body" : graph_.name);
  for (const GraphInput& input : graph_.inputs) {
    const GraphValue& value = graph_.value(input.value);
    names_[input.value] = model_.new_name(value.name);
    out.inputs.push_back(messages.make_value_info(names_[input.value], model_.exported.memory.make_type(value.type)));
  }
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId v = graph_.outputs()[i];
    const wire::Bytes name = model_.new_name(graph_.output_names()[i]);
    if (graph_.value(v).producer == kNone || !names_.emplace(v, name).second) second_names_.emplace(name, v);
    out.outputs.push_back(messages.make_value_info(name, model_.exported.memory.make_type(graph_.value(v).type)));
  }
}

Status GraphExporter::write_nodes() {
  if (!graph_.wire) {
    for (const GraphNode& node : graph_.nodes()) TN_RETURN_IF_ERROR(write_anew(node));
    return {};
  }
  // Nodes that rules made go behind the group of the node before them.
  std::map<GroupId, std::vector<NodeId>> made_after;
  GroupId last = kNone;
  for (const GraphNode& node : graph_.nodes()) {
    if (node.group == kNone || is_made(outermost(node.group)))
      made_after[last].push_back(node.id);
    else
      last = outermost(node.group);
  }
  std::set<GroupId> written;
  const auto write_made = [&](GroupId after) -> Status {
    for (NodeId id : made_after[after]) {
      const GroupId group = graph_.node(id).group;
      if (group == kNone)
        TN_RETURN_IF_ERROR(write_anew(graph_.node(id)));
      else if (written.insert(group).second)
        TN_RETURN_IF_ERROR(write_group(group));
    }
    return {};
  };
  std::unordered_map<const wire::Node*, GroupId> group_of;
  for (size_t i = 0; i < graph_.group_count(); ++i)
    if (graph_.group(GroupId(i)).call == kNone) group_of.emplace(graph_.group(GroupId(i)).wire, GroupId(i));
  TN_RETURN_IF_ERROR(write_made(kNone));
  for (const wire::Node& node : graph_.wire->nodes) {
    const auto it = group_of.find(&node);
    if (it == group_of.end()) {
      nodes_.push_back(node);  // a Constant, or a node without outputs
      continue;
    }
    TN_RETURN_IF_ERROR(write_group(it->second));
    TN_RETURN_IF_ERROR(write_made(it->second));
  }
  return {};
}

// --- groups -----------------------------------------------------------------------------------------------------

GroupId GraphExporter::outermost(GroupId id) const {
  while (graph_.group(id).call != kNone) id = graph_.group(id).call;
  return id;
}

// Whether something besides the group reads a value that the file has no name for.
bool GraphExporter::is_read_inside(GroupId id) const {
  const auto is_outside = [&](const Use& use) {
    if (use.kind == Use::Kind::Output) return true;
    if (use.kind != Use::Kind::Slot && unread_.contains(use.node)) return false;
    const GroupId reader = use.kind == Use::Kind::Slot ? use.group : graph_.node(use.node).group;
    return reader == kNone || outermost(reader) != id;
  };
  const Group& group = graph_.group(id);
  const auto has_name = [&](ValueId v) {
    return is_made(id) ? std::ranges::find(group.results, v) != group.results.end() : graph_.value(v).in_file;
  };
  for (NodeId n : group_nodes_[id])
    for (ValueId v : graph_.node(n).outputs)
      if (v != kNone && !has_name(v) && std::ranges::any_of(graph_.value(v).uses, is_outside)) return true;
  return false;
}

// A node that does not need one of its inputs may be all that is left of what that input was for.
bool GraphExporter::has_lost_input(GroupId id) const {
  return std::ranges::any_of(graph_.group(id).slots, [&](ValueId v) { return v != kNone && !is_defined(v); });
}

bool GraphExporter::is_call(GroupId id) const {
  return std::ranges::any_of(group_nodes_[id], [&](NodeId n) { return graph_.node(n).group != id; });
}

bool GraphExporter::is_as_read(GroupId id) const {
  if (graph_.group(id).touched || is_read_inside(id) || (has_lost_input(id) && !is_call(id))) return false;
  for (NodeId n : group_nodes_[id])
    for (const auto& body : graph_.node(n).bodies)
      // What is inside of a call is not written, so names there do not count.
      if (!is_untouched(*body) || (graph_.node(n).group == id && !reads_same_names(*body))) return false;
  return true;
}

bool GraphExporter::reads_same_names(const Graph& body) const {
  return !reads_unnamed_constants(body) && std::ranges::all_of(body.captures, [&](const GraphCapture& c) {
    const GraphValue& inner = body.value(c.inner);
    const auto it = names_.find(c.outer);
    if (it != names_.end()) return it->second == inner.name;
    return graph_.value(c.outer).in_file && graph_.value(c.outer).name == inner.name;
  });
}

Status GraphExporter::write_group(GroupId id) {
  const Group& group = graph_.group(id);
  const bool as_read = is_as_read(id);
  if (as_read && is_made(id)) return write_as_made(id), Status();
  if (as_read && !model_.options.respell) return write_as_read(group), Status();
  std::vector<NodeId> missing;
  const std::vector<Written> found = spellings(group_nodes_[id], missing);
  if (as_read && !missing.empty()) {
    // A node without a way back stays as it was read.
    note_kept(missing);
    return write_as_read(group), Status();
  }
  for (NodeId n : missing)
    if (!graph_.node(n).outputs.empty()) note_inexpressible(graph_.node(n));
  for (const Written& w : found) TN_RETURN_IF_ERROR(write(graph_.node(w.node), w.spelling));
  ++model_.exported.respelled;
  for (size_t i = 0; i < group.results.size() && !is_made(id); ++i)
    if (group.results[i] != kNone) second_names_.emplace(group.wire->outputs[i], group.results[i]);
  return {};
}

// From the end, so that what a spelling covers is known before it would be written itself.
std::vector<GraphExporter::Written> GraphExporter::spellings(const std::vector<NodeId>& nodes,
                                                             std::vector<NodeId>& missing) {
  std::vector<Written> found;
  NodeSet unwritten = unread_;  // and whatever only nodes read that are covered
  for (const NodeId n : std::views::reverse(nodes)) {
    const GraphNode& node = graph_.node(n);
    const bool is_check = node.outputs.empty();  // which only the ONNX node itself can state
    if (unwritten.contains(n) && !is_check) continue;
    auto spelling = is_check ? std::nullopt : model_.speller.spell(graph_, node, unread_);
    const bool has_bodies =
        std::ranges::all_of(node.bodies, [&](const auto& body) { return body->wire || can_write(*body); });
    if (!spelling || !has_bodies) {
      missing.push_back(n);
      continue;
    }
    cover(nodes, n, spelling->covered, unwritten);
    found.push_back({n, std::move(*spelling)});
  }
  std::ranges::reverse(found);
  std::ranges::reverse(missing);
  return found;
}

// Nodes that this spelling covers need not be written, unless something else reads them.
void GraphExporter::cover(const std::vector<NodeId>& nodes, NodeId by, const std::vector<NodeId>& covered,
                          NodeSet& unwritten) const {
  NodeSet readers = unwritten;
  readers.insert(by);
  for (const NodeId n : std::views::reverse(nodes)) {
    if (std::ranges::find(covered, n) == covered.end()) continue;
    const auto is_read_elsewhere = [&](ValueId v) { return v != kNone && is_read(graph_.value(v), readers); };
    if (std::ranges::any_of(graph_.node(n).outputs, is_read_elsewhere)) continue;
    readers.insert(n);
    unwritten.insert(n);
  }
}

// A body of a function has no form to be kept in.
bool GraphExporter::can_write(const Graph& body) const {
  return std::ranges::all_of(body.nodes(), [&](const GraphNode& node) {
    if (node.outputs.empty()) return true;  // nothing is written for it
    return model_.speller.spell(body, node) &&
           std::ranges::all_of(node.bodies, [&](const auto& inner) { return can_write(*inner); });
  });
}

// A second name that came from a node which is not written as it was read any more.
bool GraphExporter::is_lost_name(wire::Bytes name, ValueId v) {
  const auto it = second_names_.find(name);
  return it != second_names_.end() && it->second == v && name_of(v) != name;
}

// With the names that its inputs have now.
void GraphExporter::write_as_read(const Group& group) {
  wire::Node node = *group.wire;
  bool renamed = false;
  const auto rename = [&](wire::Bytes& name, wire::Bytes other) {
    renamed = renamed || name != other;
    name = other;
  };
  for (size_t i = 0; i < group.slots.size() && i < node.inputs.size(); ++i) {
    const ValueId v = group.slots[i];
    if (v == kNone) continue;
    if (!is_defined(v)) {  // an argument that its function does not read
      rename(node.inputs[i], wire::Bytes(""));
      continue;
    }
    // A value may have several names in a file; the one that was read holds as long as the value is the same.
    const bool is_renamed = renamed_.contains(v) || (captured_.contains(v) && names_[v] != graph_.value(v).name) ||
                            is_unnamed_constant(graph_.value(v)) || is_lost_name(node.inputs[i], v);
    if (v != group.slots_as_read[i] || is_renamed) rename(node.inputs[i], name_of(v));
  }
  for (size_t i = 0; i < group.results.size(); ++i) {
    const ValueId v = group.results[i];
    if (v == kNone) continue;
    if (renamed_.contains(v))
      rename(node.outputs[i], name_of(v));
    else if (is_displaced(v, node.outputs[i]))
      rename(node.outputs[i], model_.new_name(node.outputs[i]));
    written_.emplace_back(node.outputs[i], v);
  }
  if (renamed) node.raw = {};
  nodes_.push_back(std::move(node));
}

// As the ONNX node that a rule made.
void GraphExporter::write_as_made(GroupId id) {
  const Group& group = graph_.group(id);
  std::vector<wire::Bytes> inputs, outputs;
  for (ValueId v : group.slots) inputs.push_back(v == kNone ? wire::Bytes("") : name_of(v));
  for (ValueId v : group.results) {
    const bool is_wanted = v != kNone && (outputs.empty() || is_read(graph_.value(v), unread_));
    outputs.push_back(is_wanted ? name_of(v) : wire::Bytes(""));
    if (is_wanted) written_.emplace_back(outputs.back(), v);
  }
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  const GraphNode& first = graph_.node(group_nodes_[id].front());
  wire::Node made = model_.exported.memory.messages.make_node(group.wire->op_type, group.wire->domain, inputs, outputs,
                                                              model_.new_node_name(first.name));
  made.attributes = group.wire->attributes;
  add_provenance(made, first.made_from.get());
  nodes_.push_back(std::move(made));
  ++model_.exported.respelled;
}

// --- nodes ------------------------------------------------------------------------------------------------------

Status GraphExporter::write_anew(const GraphNode& node) {
  if (unread_.contains(node.id)) return {};
  if (const auto spelling = model_.speller.spell(graph_, node, unread_)) return write(node, *spelling);
  note_inexpressible(node);
  return {};
}

// Checks of shapes stay with the ONNX node that states them; that is no lack of a form.
void GraphExporter::note_kept(const std::vector<NodeId>& missing) {
  const auto it = std::ranges::find_if(missing, [&](NodeId n) { return !graph_.node(n).outputs.empty(); });
  if (it == missing.end()) return;
  const GraphNode& first = graph_.node(*it);
  model_.kept.insert(model_.op_text(*graph_.group(first.group).wire, op_def(first.op).name));
}

void GraphExporter::note_inexpressible(const GraphNode& node) {
  model_.inexpressible.push_back(fmt::format("{} '{}'", op_def(node.op).name, node.name));
}

Status GraphExporter::write(const GraphNode& node, const Spelling& spelling) {
  std::vector<wire::Bytes> inputs;
  for (ValueId v : spelling.inputs) inputs.push_back(v == kNone ? wire::Bytes("") : name_of(v));
  const std::vector<wire::Bytes> outputs = output_names(node, spelling);
  for (size_t i = 0; i < outputs.size() && i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNone && !outputs[i].empty()) written_.emplace_back(outputs[i], node.outputs[i]);
  const bool keeps_name = keeps_name_in_file(node);
  wire::Node made =
      model_.exported.memory.messages.make_node(spelling.op_type, spelling.domain, inputs, outputs, node_name(node));
  made.attributes = spelling.attributes;
  if (keeps_name)
    made.other = graph_.group(node.group).wire->other;
  else
    add_provenance(made, node.made_from.get());
  for (size_t b = 0; b < node.bodies.size(); ++b) {
    TN_ASSIGN_OR_RETURN(wire::Attribute attribute, body_attribute(spelling.bodies[b], *node.bodies[b]));
    made.attributes.push_back(std::move(attribute));
  }
  nodes_.push_back(std::move(made));
  return {};
}

std::vector<wire::Bytes> GraphExporter::output_names(const GraphNode& node, const Spelling& spelling) {
  std::vector<wire::Bytes> names;
  for (size_t i = 0; i < spelling.outputs.size(); ++i) {
    if (!spelling.outputs[i])
      names.emplace_back("");
    else
      names.push_back(i >= node.outputs.size() || node.outputs[i] == kNone ? model_.new_name(node.name)
                                                                           : name_of(node.outputs[i]));
  }
  return names;
}

// The first of the nodes that stand for one keeps its name, and with it what the file says of the node.
bool GraphExporter::keeps_name_in_file(const GraphNode& node) const {
  return graph_.wire && node.group != kNone && graph_.group(node.group).call == kNone && !is_made(node.group) &&
         !named_groups_.contains(node.group);
}

wire::Bytes GraphExporter::node_name(const GraphNode& node) {
  if (node.group == kNone) return model_.new_node_name(node.name);
  const Group& group = graph_.group(node.group);
  if (is_made(node.group) && group.call == kNone) return model_.new_node_name(node.name);
  if (!keeps_name_in_file(node)) return model_.new_node_name(group.wire->name);
  named_groups_.insert(node.group);
  return group.wire->name;
}

void GraphExporter::add_provenance(wire::Node& made, const Provenance* from) {
  if (from) made.other.push_back(model_.exported.memory.messages.make_node_metadata(kProvenanceKey, from->to_text()));
}

Result<wire::Attribute> GraphExporter::body_attribute(std::string_view name, const Graph& body) {
  ValueNames captured;
  for (const GraphCapture& c : body.captures) captured[c.inner] = name_of(c.outer);
  auto message = std::make_shared<wire::Graph>();
  TN_RETURN_IF_ERROR(GraphExporter(model_, body, std::move(captured)).run(*message));
  return model_.exported.memory.messages.make_graph(name, std::move(message));
}

// --- values -----------------------------------------------------------------------------------------------------

// True when an output of the graph has the name that this value had.
bool GraphExporter::is_displaced(ValueId v, std::string_view name) const {
  const auto it = outputs_.find(name);
  return it != outputs_.end() && it->second != v;
}

bool GraphExporter::is_defined(ValueId v) const {
  const GraphValue& value = graph_.value(v);
  return value.producer != kNone || value.constant != kNone || captured_.contains(v) ||
         std::ranges::count(graph_.inputs, v, &GraphInput::value) != 0;
}

wire::Bytes GraphExporter::name_of(ValueId v) {
  if (const auto it = names_.find(v); it != names_.end()) return it->second;
  const GraphValue& value = graph_.value(v);
  if (value.in_file && !is_displaced(v, value.name))
    return names_[v] = model_.exported.memory.messages.keep(value.name);
  const bool is_result = value.name.empty() && value.producer != kNone;
  const wire::Bytes name = model_.new_name(is_result ? graph_.node(value.producer).name : value.name);
  names_[v] = name;
  if (const Constant* constant = graph_.constant(v)) write_constant(*constant, name);
  return name;
}

// A literal, or a constant of a function that is written where it is called.
void GraphExporter::write_constant(const Constant& constant, wire::Bytes name) {
  const auto tensor = constant.value();
  if (!tensor.ok()) return model_.inexpressible.push_back(fmt::format("constant '{}'", constant.source));
  ExportMemory& memory = model_.exported.memory;
  const wire::Bytes output[] = {name};
  wire::Node node = memory.messages.make_node("Constant", "", {}, output);
  node.attributes.push_back(memory.messages.make_tensor("value", memory.make_tensor("", *tensor)));
  add_provenance(node, constant.made_from.get());
  constants_.push_back(std::move(node));
}

// Outputs of the graph, and names of values that only nodes written as they were read know.
void GraphExporter::write_second_names(const wire::Graph& out) {
  const Names read = names_read(nodes_, out.outputs);
  Names made = names_made(nodes_);
  for (const wire::ValueInfo& input : out.inputs) made.insert(input.name);
  for (const wire::TensorProto& tensor : out.initializers) made.insert(tensor.name);
  for (const wire::SparseTensorProto& tensor : out.sparse_initializers) made.insert(tensor.values.name);
  for (const auto& [second, v] : second_names_) {
    if (!read.contains(second) || made.contains(second) || !is_defined(v)) continue;
    const wire::Bytes first = name_of(v), second_name = model_.exported.memory.messages.keep(second);
    if (first != second_name)
      nodes_.push_back(model_.exported.memory.messages.make_node("Identity", "", {&first, 1}, {&second_name, 1}));
  }
}

// What the file's nodes read and the written ones do not: constants that became something else, and what was declared
// of values that are gone.
void GraphExporter::remove_unneeded(wire::Graph& out) {
  const Names read = names_read(nodes_, out.outputs), read_before = names_read(graph_.wire->nodes, out.outputs);
  const auto is_unneeded = [&](std::string_view name) {
    return read_before.contains(name) && !read.contains(name) &&
           std::ranges::count(out.inputs, name, &wire::ValueInfo::name) == 0;
  };
  std::erase_if(nodes_, [&](const wire::Node& node) { return is_constant(node) && is_unneeded(node.outputs[0]); });
  std::erase_if(out.initializers, [&](const wire::TensorProto& tensor) { return is_unneeded(tensor.name); });
  std::erase_if(out.sparse_initializers,
                [&](const wire::SparseTensorProto& tensor) { return is_unneeded(tensor.values.name); });
  const Names made = names_made(nodes_), made_before = names_made(graph_.wire->nodes);
  std::erase_if(out.value_infos, [&](const wire::ValueInfo& info) {
    return made_before.contains(info.name) && !made.contains(info.name);
  });
}

// In data-flow order, and otherwise as they are.
void GraphExporter::put_in_order(std::vector<wire::Node>& out) {
  std::unordered_map<std::string_view, size_t> maker;
  for (size_t i = 0; i < nodes_.size(); ++i)
    for (wire::Bytes output : nodes_[i].outputs)
      if (!output.empty()) maker.emplace(output, i);
  std::vector<std::vector<size_t>> readers(nodes_.size());
  std::vector<size_t> waiting(nodes_.size(), 0);
  for (size_t i = 0; i < nodes_.size(); ++i)
    for (std::string_view name : references_of(nodes_[i]))
      if (const auto it = maker.find(name); it != maker.end() && it->second != i) {
        readers[it->second].push_back(i);
        ++waiting[i];
      }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (waiting[i] == 0) ready.push(i);
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    for (const size_t reader : readers[i])
      if (--waiting[reader] == 0) ready.push(reader);
    out.push_back(std::move(nodes_[i]));
  }
}

}  // namespace tenon
