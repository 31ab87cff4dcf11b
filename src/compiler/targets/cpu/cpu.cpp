#include "compiler/lower.h"
#include "compiler/targets/cpu/claim.h"
#include "compiler/targets/targets.h"
#include "providers/provider.h"

namespace tenon {

namespace {

Status claim_graph(Graph& graph) {
  for (GraphNode& node : graph.nodes)
    for (auto& body : node.bodies) TN_RETURN_IF_ERROR(claim_graph(*body));
  GraphEdit edit(graph);
  std::vector<Claim> claims;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    auto claim = claim_node(edit, static_cast<NodeId>(n));
    if (!claim) continue;
    extend_claim(edit, *claim);
    claims.push_back(std::move(*claim));
  }
  merge_products(edit, claims);
  for (const Claim& claim : claims) emit_claim(edit, claim);
  return edit.finish();
}

// The cpu provider's kernel where it has one, else the reference's.
std::string family_of(OpId op) {
  const std::string name(op_def(op).name);
  const std::string fast = "cpu/" + name;
  return find_kernel(fast).function ? fast : "reference/" + name;
}

}  // namespace

Result<LoweredModel> lower_for_cpu(const Graph& graph) {
  Graph copy = clone_graph(graph);
  TN_RETURN_IF_ERROR(claim_graph(copy));
  return lower(copy, {family_of, true});
}

}  // namespace tenon
