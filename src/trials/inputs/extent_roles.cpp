#include "trials/inputs/extent_roles.h"

namespace tenon {

namespace {

ExtentRole role_by_place(const Shape& shape, size_t axis) {
  const size_t rank = shape.size();
  if (axis == 0) return ExtentRole::Batch;
  if (rank < 3) return ExtentRole::Short;
  // States of a recurrent layer: [layers, batch, features].
  if (rank == 3 && axis == 1 && shape[0].is_constant() && shape[0].value() > 1 && shape[2].is_constant())
    return ExtentRole::Batch;
  if (rank == 3) return ExtentRole::Sequence;
  const bool channels_last = !shape[1].is_constant() && shape[rank - 1].is_constant();
  if (channels_last)
    return axis + 2 < rank ? ExtentRole::Height : axis + 1 < rank ? ExtentRole::Width : ExtentRole::Short;
  // Keys and values of earlier tokens: [batch, heads, tokens, size of a head].
  if (rank == 4 && axis == 2 && shape[3].is_constant()) return ExtentRole::Short;
  if (axis == 1) return ExtentRole::Short;
  return axis + 1 < rank ? ExtentRole::Height : ExtentRole::Width;
}

void add_by_place(const Type& type, std::map<std::string, ExtentRole>& roles) {
  if (type.element) add_by_place(*type.element, roles);
  if (!type.shape) return;
  for (size_t axis = 0; axis < type.shape->size(); ++axis) {
    std::vector<std::string> symbols;
    (*type.shape)[axis].collect_symbols(symbols);
    for (const std::string& symbol : symbols) roles.emplace(symbol, role_by_place(*type.shape, axis));
  }
}

// The places alone would take time for the batch: recurrent layers have it first.
void set_by_recurrent_layers(const Graph& graph, std::map<std::string, ExtentRole>& roles) {
  for (const GraphNode& node : graph.nodes()) {
    for (const auto& body : node.bodies) set_by_recurrent_layers(*body, roles);
    const auto time_axis = op_def(node.op).time_axis;
    if (!time_axis || node.inputs.empty() || node.inputs[0] == kNone) continue;
    const auto& shape = graph.value(node.inputs[0]).type.shape;
    if (!shape || shape->size() != 3) continue;
    const size_t time = time_axis(node.params);
    const auto set = [&](size_t axis, ExtentRole role) {
      const auto symbol = (*shape)[axis].as_symbol();
      if (symbol && roles.contains(*symbol)) roles[*symbol] = role;
    };
    set(time, ExtentRole::Sequence);
    set(1 - time, ExtentRole::Batch);
  }
}

}  // namespace

std::map<std::string, ExtentRole> extent_roles(const Graph& graph) {
  std::map<std::string, ExtentRole> roles;
  for (const GraphInput& input : graph.inputs) add_by_place(graph.value(input.value).type, roles);
  set_by_recurrent_layers(graph, roles);
  return roles;
}

}  // namespace tenon
