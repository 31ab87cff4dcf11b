#include "compiler/compile.h"
#include "compiler/lower.h"

namespace tenon {

Result<CompiledModel> compile_reference(const Graph& graph) {
  const LoweringRules rules{[](OpId op) { return "reference/" + std::string(op_def(op).name); }, false};
  TN_ASSIGN_OR_RETURN(LoweredModel lowered, lower(graph, rules));
  CompiledModel compiled;
  for (ConstantId id : lowered.sources) {
    const Constant& constant = (*graph.constants)[static_cast<size_t>(id)];
    auto tensor = constant.value();
    if (!tensor.ok()) return std::move(tensor).status().in("weight '" + constant.source + "'");
    compiled.slots.push_back(std::move(*tensor));
  }
  compiled.program = std::move(lowered.program);
  return compiled;
}

}  // namespace tenon
