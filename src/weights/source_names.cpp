#include "weights/source_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

std::string source_name(const std::string& scope, std::string_view name) {
  return scope.empty() ? std::string(name) : fmt::format("{}/{}", scope, name);
}

std::string function_scope(const wire::Function& function) {
  const std::string scope = fmt::format("{}.{}", function.domain, function.name);
  return function.overload.empty() ? scope : fmt::format("{}:{}", scope, function.overload);
}

// The name wanted, or one with a number when it is taken. Counting on from the last number keeps many equal names
// cheap.
std::string unique(std::unordered_map<std::string, int>& taken, std::string wanted) {
  const auto [it, is_new] = taken.try_emplace(wanted, 1);
  if (is_new) return wanted;
  int count = it->second;
  std::string numbered;
  do {
    numbered = fmt::format("{}#{}", wanted, ++count);
  } while (!taken.try_emplace(numbered, 1).second);
  taken[wanted] = count;
  return numbered;
}

bool is_list_or_tensor(const wire::Attribute& a) {
  using Type = wire::AttributeType;
  const auto is = [&](Type type) { return a.type == type; };
  if (is(Type::Tensor)) return !a.tensors.empty();
  if (is(Type::SparseTensor)) return !a.sparse_tensors.empty();
  return is(Type::Floats) || is(Type::Ints) || is(Type::Strings);
}

bool is_number_or_string(const wire::Attribute& a) {
  using Type = wire::AttributeType;
  return a.type == Type::Float || a.type == Type::Int || a.type == Type::String;
}

}  // namespace

std::string function_key(std::string_view domain, std::string_view name, std::string_view overload) {
  // No name holds a zero byte.
  return fmt::format("{}{}{}{}{}", canonical_domain(domain), '\0', name, '\0', overload);
}

std::string readable_name(const wire::Node& node) {
  if (!node.name.empty()) return std::string(node.name);
  for (wire::Bytes output : node.outputs)
    if (!output.empty()) return fmt::format("{}->{}", node.op_type, output);
  return std::string(node.op_type);
}

bool has_learned_attributes(const wire::Node& node) {
  if (node.domain == "ai.onnx.ml") return true;
  return canonical_domain(node.domain).empty() &&
         (node.op_type == "TfIdfVectorizer" || node.op_type == "GivenTensorFill");
}

SourceNames::SourceNames(const wire::Model& model) {
  for (const wire::Function& function : model.functions) {
    functions_.insert(function_key(function.domain, function.name, function.overload));
    note_names_read(function.nodes);
    names_read_.insert(function.outputs.begin(), function.outputs.end());
  }
  note_names_read(model.graph.nodes);
  for (const wire::ValueInfo& output : model.graph.outputs) names_read_.insert(output.name);
  name_graph("", model.graph);
  for (const wire::Function& function : model.functions) name_function(function);
}

std::string SourceNames::name_of(const void* message) const {
  const auto it = by_message_.find(message);
  return it == by_message_.end() ? std::string() : weights_[it->second].name;
}

std::string SourceNames::of_absent(const wire::Node& node, std::string_view attribute) const {
  const auto it = labels_of_node_.find(&node);
  if (it == labels_of_node_.end()) return {};
  std::string name = fmt::format("{}.{}", it->second, attribute);
  return names_.contains(name) ? std::string() : name;
}

void SourceNames::note_names_read(const std::vector<wire::Node>& nodes) {
  for (const wire::Node& node : nodes) {
    names_read_.insert(node.inputs.begin(), node.inputs.end());
    for (const wire::Attribute& attribute : node.attributes)
      for (const auto& graph : attribute.graphs) {
        if (!graph) continue;
        note_names_read(graph->nodes);
        for (const wire::ValueInfo& output : graph->outputs) names_read_.insert(output.name);
      }
  }
}

bool SourceNames::is_call(const wire::Node& node) const {
  return !functions_.empty() && functions_.contains(function_key(node.domain, node.op_type, node.overload));
}

bool SourceNames::is_constant(const wire::Node& node) const {
  return node.op_type == "Constant" && canonical_domain(node.domain).empty() && !is_call(node);
}

void SourceNames::add(std::string wanted, const void* message, NamedWeight weight) {
  weight.name = unique(names_, std::move(wanted));
  if (by_message_.emplace(message, weights_.size()).second) weights_.push_back(std::move(weight));
}

void SourceNames::name_graph(const std::string& scope, const wire::Graph& graph) {
  for (const wire::TensorProto& tensor : graph.initializers)
    if (!tensor.name.empty())
      add(source_name(scope, tensor.name), &tensor, {.tensor = &tensor, .certain = names_read_.contains(tensor.name)});
  for (const wire::SparseTensorProto& sparse : graph.sparse_initializers)
    if (const wire::Bytes name = sparse.values.name; !name.empty())
      add(source_name(scope, name), &sparse.values, {.sparse = &sparse, .certain = names_read_.contains(name)});
  name_constants(scope, graph.nodes);
  name_nodes(scope, graph.nodes);
}

void SourceNames::name_constants(const std::string& scope, const std::vector<wire::Node>& nodes) {
  for (const wire::Node& node : nodes) {
    if (!is_constant(node) || node.outputs.size() != 1 || node.outputs[0].empty() || node.attributes.size() != 1)
      continue;
    const wire::Attribute& value = node.attributes[0];
    if (!value.ref_attr_name.empty() || !(is_list_or_tensor(value) || is_number_or_string(value))) continue;
    const wire::Bytes output = node.outputs[0];
    add(source_name(scope, output), &value, {.attribute = &value, .certain = names_read_.contains(output)});
  }
}

void SourceNames::name_nodes(const std::string& scope, const std::vector<wire::Node>& nodes) {
  for (const wire::Node& node : nodes)
    if (!is_constant(node)) name_attributes(scope, node);
}

void SourceNames::name_attributes(const std::string& scope, const wire::Node& node) {
  // A call hands all its attributes to what the function does, where any of them can become a constant. A reference to
  // an attribute of the call around it is no weight: what that call gives is.
  const bool call = is_call(node), learned = has_learned_attributes(node);
  const auto may_be_weight = [&](const wire::Attribute& a) {
    if (!a.ref_attr_name.empty() || !(call || learned)) return false;
    return is_list_or_tensor(a) || (call && is_number_or_string(a));
  };
  const auto has_weights = [&](const wire::Attribute& a) { return may_be_weight(a) || !a.graphs.empty(); };
  if (std::ranges::none_of(node.attributes, has_weights)) return;
  const std::string label = unique(labels_, source_name(scope, readable_name(node)));
  labels_of_node_.emplace(&node, label);
  for (const wire::Attribute& attribute : node.attributes) {
    std::string name = fmt::format("{}.{}", label, attribute.name);
    if (may_be_weight(attribute)) add(name, &attribute, {.attribute = &attribute});
    for (const auto& graph : attribute.graphs)
      if (graph) name_graph(unique(scopes_, name), *graph);
  }
}

void SourceNames::name_function(const wire::Function& function) {
  const std::string scope = unique(scopes_, function_scope(function));
  for (const wire::Attribute& attribute : function.attribute_defaults)
    if (is_list_or_tensor(attribute) || is_number_or_string(attribute))
      add(fmt::format("{}.{}", scope, attribute.name), &attribute, {.attribute = &attribute});
  name_constants(scope, function.nodes);
  name_nodes(scope, function.nodes);
}

}  // namespace tenon
