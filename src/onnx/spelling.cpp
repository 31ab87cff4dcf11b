#include "onnx/spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "onnx/graph_importer.h"
#include "onnx/onnx_map.h"
#include "onnx/op_versions.h"
#include "weights/source_names.h"

namespace tenon {

namespace {

bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.dtype() == DType::String) return std::ranges::equal(a.as<std::string>(), b.as<std::string>());
  return a.bytes() == 0 || std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())) == 0;
}

bool same_constants(const Constant* a, const Constant* b) {
  if (!a || !b || a->dtype != b->dtype || a->dims != b->dims) return false;
  const auto left = a->value(), right = b->value();
  return left.ok() && right.ok() && same_elements(*left, *right);
}

// The outputs that something reads, that the file has a name for, and that the ONNX op cannot be without.
std::vector<bool> wanted_outputs(const Graph& graph, const GraphNode& node, const NodeSet& unread, bool all) {
  const size_t least = std::max<size_t>(onnx_map().ways_back(node.op).least_outputs, 1);
  const bool is_variadic = op_def(node.op).outputs.max == kVariadic;
  std::vector<bool> wanted(std::max(node.outputs.size(), least), true);
  for (size_t i = least; i < wanted.size() && !all && !is_variadic; ++i) {
    const ValueId v = node.outputs[i];
    wanted[i] = v != kNone && (graph.value(v).in_file || is_read(graph.value(v), unread));
  }
  while (!wanted.empty() && !wanted.back()) wanted.pop_back();
  return wanted;
}

// One ONNX node in a graph of its own, with all that is known of its inputs.
class NodeAlone {
 public:
  NodeAlone(const ImportedModel& model, const Graph& graph, const Spelling& spelling)
      : graph_(graph), spelling_(spelling), opsets_(model.opsets) {
    alone_.wire.ir_version = model.wire.ir_version;
  }

  bool read() {
    wire::MessageBuilder messages;
    std::vector<wire::Bytes> inputs, outputs;
    for (ValueId v : spelling_.inputs) inputs.push_back(v == kNone ? "" : messages.keep(fmt::format("v{}", v.index())));
    for (size_t i = 0; i < spelling_.outputs.size(); ++i)
      outputs.push_back(spelling_.outputs[i] ? messages.keep(fmt::format("r{}", i)) : "");
    auto& nodes = alone_.wire.graph.nodes;
    nodes.push_back(messages.make_node(spelling_.op_type, spelling_.domain, inputs, outputs, "alone"));
    nodes[0].attributes = spelling_.attributes;
    ModelImport state{alone_, options_};  // it names the weights among the attributes
    GraphImporter importer(state, alone_.graph, nullptr, opsets_, nullptr);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!inputs[i].empty() && importer.lookup(inputs[i]) == kNone &&
          !importer.define(inputs[i], copy_of(spelling_.inputs[i])).ok())
        return false;
    if (!importer.import_nodes(nodes).ok()) return false;
    // What it requires of its inputs is not a part of what it computes.
    for (const GraphNode& node : alone_.graph.nodes())
      if (!node.outputs.empty()) computing_.push_back(node.id);
    return !computing_.empty();
  }

  bool is(const GraphNode& node) {
    const std::vector<ValueId>& results = alone_.graph.group(alone_.graph.node(computing_[0]).group).results;
    const auto first = static_cast<size_t>(std::ranges::find(spelling_.outputs, true) - spelling_.outputs.begin());
    if (first >= results.size() || results[first] == kNone) return false;
    const NodeId made = alone_.graph.value(results[first]).producer;
    if (made == kNone || !is_same_node(made, node, spelling_.params)) return false;
    const GraphNode& again = alone_.graph.node(made);
    for (size_t i = first; i < spelling_.outputs.size(); ++i)
      if (spelling_.outputs[i] && (i >= again.outputs.size() || results[i] != again.outputs[i])) return false;
    return counterparts_.size() == computing_.size();
  }

  // The nodes of the graph, besides the one itself, that reading gives.
  std::vector<NodeId> covered(const GraphNode& node) const {
    std::vector<NodeId> nodes;
    for (const auto& [again, original] : counterparts_)
      if (original != node.id) nodes.push_back(original);
    return nodes;
  }

 private:
  ValueId copy_of(ValueId v) {
    const GraphValue& original = graph_.value(v);
    ValueId copy;
    if (const Constant* constant = graph_.constant(v)) {
      copy = alone_.graph.add_constant(*constant, "");
    } else {
      copy = alone_.graph.add_value("", original.type);
      alone_.graph.value(copy).known = original.known;
    }
    originals_.emplace(copy, v);
    return copy;
  }

  bool is_same_node(NodeId made, const GraphNode& original, const Params& params) {
    if (const auto it = counterparts_.find(made); it != counterparts_.end()) return it->second == original.id;
    const GraphNode& again = alone_.graph.node(made);
    if (again.op != original.op || !again.bodies.empty() || !original.bodies.empty()) return false;
    if (params_to_bytes(again.op, again.params) != params_to_bytes(original.op, params)) return false;
    if (again.inputs.size() != original.inputs.size()) return false;
    for (size_t i = 0; i < original.inputs.size(); ++i)
      if (!is_same_value(again.inputs[i], original.inputs[i])) return false;
    counterparts_.emplace(made, original.id);
    return true;
  }

  bool is_same_value(ValueId again, ValueId original) {
    if (again == kNone || original == kNone) return again == original;
    if (const auto it = originals_.find(again); it != originals_.end() && it->second == original) return true;
    if (same_constants(alone_.graph.constant(again), graph_.constant(original))) return true;
    const NodeId made = alone_.graph.value(again).producer, maker = graph_.value(original).producer;
    if (made == kNone || maker == kNone) return false;
    const GraphNode& original_node = graph_.node(maker);
    const auto position = [](const GraphNode& node, ValueId v) {
      return std::ranges::find(node.outputs, v) - node.outputs.begin();
    };
    return position(alone_.graph.node(made), again) == position(original_node, original) &&
           is_same_node(made, original_node, original_node.params);
  }

  const Graph& graph_;
  const Spelling& spelling_;
  const OpsetVersions& opsets_;
  ImportedModel alone_;
  std::vector<NodeId> computing_;
  const ImportOptions options_;
  std::map<ValueId, ValueId> originals_;   // from values here to those of the graph
  std::map<NodeId, NodeId> counterparts_;  // the same of nodes
};

}  // namespace

bool is_read(const GraphValue& value, const NodeSet& unread) {
  return std::ranges::any_of(value.uses,
                             [&](const Use& use) { return use.node == kNone || !unread.contains(use.node); });
}

// One way to write a node that may be right.
struct Speller::Form {
  std::string_view domain, op_type;
  bool all_attributes = false;    // also those with the value that they have by default here
  bool attribute_inputs = false;  // constants as attributes
  bool all_outputs = false;
  DraftFunction edit = nullptr;
};

Speller::Speller(const ImportedModel& model, ExportMemory& memory) : model_(model), memory_(memory) {
  for (const wire::Function& f : model.wire.functions)
    functions_.insert(function_key(canonical_domain(f.domain), f.name, f.overload));
}

bool Speller::is_available(std::string_view domain, std::string_view op_type) const {
  return model_.opsets.contains(std::string(domain)) && !functions_.contains(function_key(domain, op_type, ""));
}

// Edits are for versions that say it differently, so they come first. A node that was read is written as the same op
// where it can be.
std::vector<Speller::Form> Speller::forms(const Graph& graph, const GraphNode& node) const {
  const OnnxMap::WaysBack& ways = onnx_map().ways_back(node.op);
  std::vector<Form> found;
  for (const OnnxMap::WayBack& way : ways.edits)
    found.push_back({.domain = way.domain, .op_type = way.op_type, .edit = way.edit});
  const std::string_view name = op_def(node.op).name;
  for (std::string_view domain : onnx_map().domains(name)) {
    if (!node.bodies.empty() && !ways.edits.empty()) continue;
    found.push_back({.domain = domain, .op_type = name});
    if (!ways.attribute_inputs.empty()) found.push_back({.domain = domain, .op_type = name, .attribute_inputs = true});
  }
  std::erase_if(found, [&](const Form& form) { return !is_available(form.domain, form.op_type); });
  if (node.group != kNone) {
    const wire::Node& read = *graph.group(node.group).wire;
    std::ranges::stable_partition(found, [&](const Form& form) {
      return form.domain == canonical_domain(read.domain) && form.op_type == read.op_type;
    });
  }
  std::vector<Form> all;
  for (const bool all_outputs : {false, true})
    for (Form form : found)
      for (const bool all_attributes : {false, true}) {
        form.all_outputs = all_outputs;
        form.all_attributes = all_attributes;
        all.push_back(form);
      }
  return all;
}

std::optional<Spelling> Speller::spell(const Graph& graph, const GraphNode& node, const NodeSet& unread) const {
  for (const Form& form : forms(graph, node)) {
    auto spelling = written(graph, node, unread, form);
    if (spelling && reads_back(graph, node, *spelling)) return spelling;
  }
  return std::nullopt;
}

std::optional<Spelling> Speller::written(const Graph& graph, const GraphNode& node, const NodeSet& unread,
                                         const Form& form) const {
  const OnnxMap::WaysBack& ways = onnx_map().ways_back(node.op);
  NodeDraft draft(graph, node, memory_);
  draft.domain = form.domain;
  draft.op_type = form.op_type;
  draft.version = model_.opsets.at(std::string(form.domain));
  draft.attributes = attributes_of(node, form.all_attributes, memory_);
  draft.bodies = ways.bodies;
  if (form.attribute_inputs)
    for (const AttributeInput& input : ways.attribute_inputs)
      if (!draft.move_to_attribute(input)) return std::nullopt;
  if (form.edit && !form.edit(draft)) return std::nullopt;
  // Old versions are read leniently here, and not everywhere.
  for (const wire::Attribute& a : draft.attributes)
    if (!has_attribute(form.domain, form.op_type, a.name, draft.version)) return std::nullopt;
  while (!draft.inputs.empty() && draft.inputs.back() == kNone) draft.inputs.pop_back();
  return Spelling{form.domain,
                  form.op_type,
                  std::move(draft.inputs),
                  std::move(draft.attributes),
                  std::move(draft.bodies),
                  wanted_outputs(graph, node, unread, form.all_outputs),
                  draft.params_to_read(),
                  {}};
}

bool Speller::reads_back(const Graph& graph, const GraphNode& node, Spelling& spelling) const {
  if (!node.bodies.empty()) return spelling.bodies.size() == node.bodies.size();
  NodeAlone alone(model_, graph, spelling);
  if (!alone.read() || !alone.is(node)) return false;
  spelling.covered = alone.covered(node);
  return true;
}

}  // namespace tenon
