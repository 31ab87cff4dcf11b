#include "passes/optimize/write_as.h"

namespace tenon {

Attempt write_as(NodeMaker& onnx, const Match& m, Graph& graph, std::string_view rule, OnnxNode node,
                 const std::vector<ValueId>& results) {
  auto patch = std::make_unique<Patch>(graph, m.root(), rule);
  patch->set_reason(
      fmt::format("{}.{} says the same in one node", node.domain.empty() ? "ai.onnx" : node.domain, node.op_type));
  node.outputs.clear();
  for (ValueId v : results) node.outputs.push_back(v != kNone);
  const std::vector<ValueId> made = onnx.make(*patch, node);
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i] != kNone && made[i] != kNone) patch->redefine(results[i], made[i]);
  return Attempt::of(std::move(patch));
}

}  // namespace tenon
