#include "compiler/targets/targets.h"

namespace tenon {

Result<LoweredModel> lower_for_reference(const Graph& graph) {
  return lower(graph, {[](OpId op) { return "reference/" + std::string(op_def(op).name); }, false});
}

}  // namespace tenon
