#include "onnx/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>

#include "onnx/references.h"
#include "onnx/spelling.h"

namespace tenon {

namespace {

void collect_names(const wire::Graph& graph, std::set<std::string, std::less<>>& names);

void collect_names(const wire::Node& node, std::set<std::string, std::less<>>& names) {
  names.insert(node.outputs.begin(), node.outputs.end());
  for (const wire::Attribute& a : node.attributes)
    for (const auto& graph : a.graphs) collect_names(*graph, names);
}

void collect_names(const wire::Graph& graph, std::set<std::string, std::less<>>& names) {
  for (const auto* infos : {&graph.inputs, &graph.outputs, &graph.value_infos})
    for (const wire::ValueInfo& info : *infos) names.emplace(info.name);
  for (const wire::TensorProto& tensor : graph.initializers) names.emplace(tensor.name);
  for (const wire::SparseTensorProto& tensor : graph.sparse_initializers) names.emplace(tensor.values.name);
  for (const wire::Node& node : graph.nodes) collect_names(node, names);
}

// What all graphs of a model share while it is exported.
struct ModelExport {
  const ImportedModel& model;
  const ExportOptions& options;
  ExportedModel& exported;
  OpsetVersions opsets;
  std::set<std::string, std::less<>> names;  // of the whole model
  std::set<std::string> kept;
  std::vector<std::string> unspeakable;  // nodes that must be written and cannot

  wire::Bytes new_name(std::string_view like) {
    std::string name(like.empty() ? "value" : like);
    for (int i = 1; !names.insert(name).second; ++i) name = fmt::format("{}_{}", like.empty() ? "value" : like, i);
    return exported.strings.keep(name);
  }
  std::string op_text(const wire::Node& node) const {
    const auto version = opsets.find(std::string(canonical_domain(node.domain)));
    return fmt::format("{}{}{} (version {})", node.domain, node.domain.empty() ? "" : ".", node.op_type,
                       version == opsets.end() ? 1 : version->second);
  }
};

using ValueNames = std::unordered_map<ValueId, wire::Bytes>;

class GraphExport {
 public:
  GraphExport(ModelExport& model, const Graph& graph, ValueNames captured)
      : model_(model), graph_(graph), speller_(model.model, model.opsets, model.exported.strings),
        names_(std::move(captured)), group_nodes_(graph.group_count()) {
    for (const GraphNode& node : graph_.nodes())
      if (node.group != kNone) group_nodes_[outermost(node.group)].push_back(node.id);
  }

  Status run(wire::Graph& out) {
    out = *graph_.wire;
    out.raw = {};
    out.nodes.clear();
    // Nodes that rules made go behind the group of the node before them.
    GroupId last = kNone;
    std::map<GroupId, std::vector<NodeId>> made_after;
    for (const GraphNode& node : graph_.nodes()) {
      if (node.group == kNone)
        made_after[last].push_back(node.id);
      else
        last = outermost(node.group);
    }
    const auto write_made = [&](GroupId after) -> Status {
      for (NodeId id : made_after[after]) TN_RETURN_IF_ERROR(write_anew(graph_.node(id)));
      return {};
    };
    TN_RETURN_IF_ERROR(write_made(kNone));
    std::unordered_map<const wire::Node*, GroupId> group_of;
    for (size_t i = 0; i < graph_.group_count(); ++i)
      if (graph_.group(GroupId(i)).call == kNone) group_of.emplace(graph_.group(GroupId(i)).wire, GroupId(i));
    for (const wire::Node& node : graph_.wire->nodes) {
      const auto it = group_of.find(&node);
      if (it == group_of.end()) {
        nodes_.push_back(node);  // a Constant, or a node without outputs
        continue;
      }
      TN_RETURN_IF_ERROR(write_group(it->second));
      TN_RETURN_IF_ERROR(write_made(it->second));
    }
    write_outputs();
    nodes_.insert(nodes_.begin(), constants_.begin(), constants_.end());
    put_in_order(out.nodes);
    return {};
  }

 private:
  GroupId outermost(GroupId id) const {
    while (graph_.group(id).call != kNone) id = graph_.group(id).call;
    return id;
  }

  static bool is_untouched(const Graph& graph) {
    for (size_t i = 0; i < graph.group_count(); ++i)
      if (graph.group(GroupId(i)).touched) return false;
    for (const GraphNode& node : graph.nodes()) {
      if (node.group == kNone) return false;
      for (const auto& body : node.bodies)
        if (!is_untouched(*body)) return false;
    }
    return true;
  }

  bool is_as_read(GroupId id) const {
    if (graph_.group(id).touched) return false;
    for (NodeId n : group_nodes_[id])
      for (const auto& body : graph_.node(n).bodies)
        if (!is_untouched(*body)) return false;
    return true;
  }

  Status write_group(GroupId id) {
    const Group& group = graph_.group(id);
    const bool as_read = is_as_read(id);
    if (as_read && !model_.options.respell) return write_as_read(group), Status();
    // What has no way back stays as it was read where it can.
    if (as_read && !can_spell(id)) {
      model_.kept.insert(model_.op_text(*group.wire));
      return write_as_read(group), Status();
    }
    ++model_.exported.respelled;
    for (NodeId n : group_nodes_[id]) TN_RETURN_IF_ERROR(write_anew(graph_.node(n)));
    // An output that is only another name of something.
    for (size_t i = 0; i < group.results.size(); ++i) {
      const ValueId v = group.results[i];
      if (v == kNone || group.wire->outputs[i].empty() || group.wire->outputs[i] == graph_.value(v).name) continue;
      write_identity(v, group.wire->outputs[i]);
    }
    return {};
  }

  bool can_spell(GroupId id) {
    for (NodeId n : group_nodes_[id]) {
      const GraphNode& node = graph_.node(n);
      for (const auto& body : node.bodies)
        if (!body->wire) return false;
      if (!speller_.spell(graph_, node)) return false;
    }
    return true;
  }

  // With the names that its inputs have now.
  void write_as_read(const Group& group) {
    wire::Node node = *group.wire;
    bool renamed = false;
    for (size_t i = 0; i < group.slots.size() && i < node.inputs.size(); ++i) {
      // A value may have several names in a file; the one that was read holds as long as the value is the same.
      if (group.slots[i] == kNone || group.slots[i] == group.slots_as_read[i]) continue;
      node.inputs[i] = name_of(group.slots[i]);
      renamed = true;
    }
    if (renamed) node.raw = {};
    nodes_.push_back(std::move(node));
  }

  Status write_anew(const GraphNode& node) {
    const auto spelling = speller_.spell(graph_, node);
    if (!spelling) {
      model_.unspeakable.push_back(fmt::format("{} '{}'", op_def(node.op).name, node.name));
      return {};
    }
    std::vector<wire::Bytes> inputs, outputs;
    for (ValueId v : spelling->inputs) inputs.push_back(v == kNone ? wire::Bytes("") : name_of(v));
    for (ValueId v : node.outputs)
      outputs.push_back(v == kNone || (graph_.value(v).uses.empty() && !graph_.value(v).in_file) ? wire::Bytes("")
                                                                                                : name_of(v));
    if (!node.outputs.empty() && outputs[0].empty() && node.outputs[0] != kNone) outputs[0] = name_of(node.outputs[0]);
    while (outputs.size() > 1 && outputs.back().empty()) outputs.pop_back();
    wire::Node made =
        model_.exported.strings.make_node(spelling->op_type, spelling->domain, inputs, outputs, node.name);
    made.attributes = spelling->attributes;
    const auto bodies = body_attributes(node.op);
    for (size_t b = 0; b < node.bodies.size(); ++b) {
      ValueNames captured;
      for (const GraphCapture& c : node.bodies[b]->captures) captured[c.inner] = name_of(c.outer);
      auto body = std::make_shared<wire::Graph>();
      TN_RETURN_IF_ERROR(GraphExport(model_, *node.bodies[b], std::move(captured)).run(*body));
      made.attributes.push_back(model_.exported.strings.make_graph(bodies[b], std::move(body)));
    }
    nodes_.push_back(std::move(made));
    return {};
  }

  void write_identity(ValueId v, wire::Bytes name) {
    const wire::Bytes input[] = {name_of(v)}, output[] = {name};
    nodes_.push_back(model_.exported.strings.make_node("Identity", "", input, output));
  }

  // Every output is there under its name.
  void write_outputs() {
    std::set<wire::Bytes> defined;
    for (const wire::Node& node : nodes_) defined.insert(node.outputs.begin(), node.outputs.end());
    for (const wire::ValueInfo& input : graph_.wire->inputs) defined.insert(input.name);
    for (const wire::TensorProto& tensor : graph_.wire->initializers) defined.insert(tensor.name);
    for (const wire::SparseTensorProto& tensor : graph_.wire->sparse_initializers) defined.insert(tensor.values.name);
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const std::string& name = graph_.output_names()[i];
      // A body may hand out a value of the graph around it.
      const bool from_outside = names_.contains(graph_.outputs()[i]) && names_[graph_.outputs()[i]] == name;
      if (defined.insert(model_.exported.strings.keep(name)).second && !from_outside)
        write_identity(graph_.outputs()[i], model_.exported.strings.keep(name));
    }
  }

  wire::Bytes name_of(ValueId v) {
    if (const auto it = names_.find(v); it != names_.end()) return it->second;
    const GraphValue& value = graph_.value(v);
    if (value.in_file) return names_[v] = value.name;
    const wire::Bytes name = model_.new_name(value.name.empty() && value.producer != kNone
                                                 ? graph_.node(value.producer).name
                                                 : value.name);
    names_[v] = name;
    if (const Constant* constant = graph_.constant(v)) write_constant(*constant, name);
    return name;
  }

  // A literal, or a constant of a function that is not called any more.
  void write_constant(const Constant& constant, wire::Bytes name) {
    auto tensor = constant.value();
    if (!tensor.ok()) return model_.unspeakable.push_back(fmt::format("constant '{}'", constant.source));
    wire::MessageBuilder& strings = model_.exported.strings;
    const wire::Bytes output[] = {name};
    wire::Node node = strings.make_node("Constant", "", {}, output);
    model_.exported.tensors.push_back(std::move(*tensor));
    node.attributes.push_back(strings.make_tensor("value", tensor_message(strings, "", model_.exported.tensors.back())));
    constants_.push_back(std::move(node));
  }

  // In data-flow order, and otherwise as they are.
  void put_in_order(std::vector<wire::Node>& out) {
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

  ModelExport& model_;
  const Graph& graph_;
  Speller speller_;
  ValueNames names_;
  std::vector<wire::Node> nodes_, constants_;
  Table<GroupId, std::vector<NodeId>> group_nodes_;
};

}  // namespace

Result<ExportedModel> export_model(const ImportedModel& model, const Graph& graph, const ExportOptions& options) {
  ExportedModel exported;
  exported.model = model.wire;
  ModelExport state{model, options, exported, {}, {}, {}, {}};
  state.opsets = model.opsets;
  collect_names(model.wire.graph, state.names);
  TN_RETURN_IF_ERROR(GraphExport(state, graph, {}).run(exported.model.graph));
  if (!state.unspeakable.empty())
    return unsupported("the versions of ops that the model imports have no form for: {}",
                       fmt::join(state.unspeakable, ", "));
  exported.kept.assign(state.kept.begin(), state.kept.end());
  return exported;
}

}  // namespace tenon
