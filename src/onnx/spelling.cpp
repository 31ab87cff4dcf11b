#include "onnx/spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

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

// Compares what a spelling is read as with nodes of the graph.
class Comparison {
 public:
  Comparison(const Graph& graph, const Spelling& spelling, const NodeAlone& alone)
      : graph_(graph), spelling_(spelling), alone_(alone) {}

  bool is(const GraphNode& node) {
    const std::vector<ValueId>& results = alone_.results();
    const auto first = static_cast<size_t>(std::ranges::find(spelling_.outputs, true) - spelling_.outputs.begin());
    if (first >= results.size() || results[first] == kNone) return false;
    const NodeId made = alone_.graph().value(results[first]).producer;
    if (made == kNone || !is_same_node(made, node, spelling_.params)) return false;
    const GraphNode& again = alone_.graph().node(made);
    for (size_t i = first; i < spelling_.outputs.size(); ++i)
      if (spelling_.outputs[i] && (i >= again.outputs.size() || results[i] != again.outputs[i])) return false;
    return counterparts_.size() == alone_.computing().size();
  }

  // The nodes of the graph, besides the one itself, that reading gives.
  std::vector<NodeId> covered(const GraphNode& node) const {
    std::vector<NodeId> nodes;
    for (const auto& [again, original] : counterparts_)
      if (original != node.id) nodes.push_back(original);
    return nodes;
  }

 private:
  bool is_same_node(NodeId made, const GraphNode& original, const Params& params) {
    if (const auto it = counterparts_.find(made); it != counterparts_.end()) return it->second == original.id;
    const GraphNode& again = alone_.graph().node(made);
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
    if (alone_.original(again) == original) return true;
    if (same_constants(alone_.graph().constant(again), graph_.constant(original))) return true;
    const NodeId made = alone_.graph().value(again).producer, maker = graph_.value(original).producer;
    if (made == kNone || maker == kNone) return false;
    const GraphNode& original_node = graph_.node(maker);
    const auto position = [](const GraphNode& node, ValueId v) {
      return std::ranges::find(node.outputs, v) - node.outputs.begin();
    };
    return position(alone_.graph().node(made), again) == position(original_node, original) &&
           is_same_node(made, original_node, original_node.params);
  }

  const Graph& graph_;
  const Spelling& spelling_;
  const NodeAlone& alone_;
  std::map<NodeId, NodeId> counterparts_;  // from nodes alone to those of the graph
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

NodeAlone::Opsets with_more(const ImportedModel& model, const NodeAlone::Opsets& more) {
  NodeAlone::Opsets all = model.opsets;
  all.insert(more.begin(), more.end());
  return all;
}

Speller::Speller(const ImportedModel& model, ExportMemory& memory, const NodeAlone::Opsets& more)
    : model_(model), opsets_(with_more(model, more)), memory_(memory) {
  for (const wire::Function& f : model.wire.functions)
    functions_.insert(function_key(canonical_domain(f.domain), f.name, f.overload));
}

bool Speller::is_available(std::string_view domain, std::string_view op_type) const {
  return opsets_.contains(std::string(domain)) && !functions_.contains(function_key(domain, op_type, ""));
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
  // What ONNX itself has is understood by more engines.
  std::ranges::stable_partition(found, [](const Form& form) { return form.domain != kMicrosoftDomain; });
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
  draft.version = opsets_.at(std::string(form.domain));
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
  const OnnxNode written{spelling.domain, spelling.op_type, spelling.inputs, spelling.attributes, spelling.outputs};
  NodeAlone alone(graph, written, opsets_, model_.wire.ir_version);
  if (!alone.read().ok()) return false;
  Comparison comparison(graph, spelling, alone);
  if (!comparison.is(node)) return false;
  spelling.covered = comparison.covered(node);
  return true;
}

}  // namespace tenon
