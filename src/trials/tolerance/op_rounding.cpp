#include "trials/tolerance/op_rounding.h"

namespace tenon {

OpRounding rounding_of(const Graph& graph, const GraphNode& node) {
  const Rounding& known = op_def(node.op).rounding;
  OpRounding rounding{known.results, known.terms, known.quantizations};
  if (known.count_terms) {
    std::vector<const Type*> inputs;
    for (const ValueId v : node.inputs) inputs.push_back(v == kNone ? nullptr : &graph.value(v).type);
    rounding.terms = known.count_terms(inputs);
  }
  for (const auto& body : node.bodies)
    for (const GraphNode& inner : body->nodes()) rounding.add(rounding_of(*body, inner));
  return rounding;
}

}  // namespace tenon
