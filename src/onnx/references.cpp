#include "onnx/references.h"

#include <algorithm>
#include <unordered_set>

namespace tenon {

namespace {

void collect_references(const wire::Node& node, std::vector<std::string_view>& out);

// What a body takes from outside: names it uses and does not define itself.
void collect_references(const wire::Graph& graph, std::vector<std::string_view>& out) {
  std::unordered_set<std::string_view> own;
  for (const wire::ValueInfo& input : graph.inputs) own.insert(input.name);
  for (const wire::TensorProto& tensor : graph.initializers) own.insert(tensor.name);
  for (const wire::SparseTensorProto& tensor : graph.sparse_initializers) own.insert(tensor.values.name);
  for (const wire::Node& node : graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  const size_t before = out.size();
  for (const wire::Node& node : graph.nodes) collect_references(node, out);
  for (const wire::ValueInfo& output : graph.outputs) out.push_back(output.name);
  out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
                           [&](std::string_view name) { return own.contains(name); }),
            out.end());
}

void collect_references(const wire::Node& node, std::vector<std::string_view>& out) {
  for (wire::Bytes input : node.inputs)
    if (!input.empty()) out.push_back(input);
  for (const wire::Attribute& a : node.attributes)
    for (const auto& graph : a.graphs) collect_references(*graph, out);
}

}  // namespace

std::vector<std::string_view> references_of(const wire::Node& node) {
  std::vector<std::string_view> references;
  collect_references(node, references);
  return references;
}

}  // namespace tenon
