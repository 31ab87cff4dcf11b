#include "compiler/targets/targets.h"

namespace tenon {

Result<LoweredModel> lower_for_reference(const Graph& graph) {
  const auto family = [](OpId op) { return "reference/" + std::string(op_def(op).name); };
  return lower(graph, {family, family, false});
}

}  // namespace tenon
