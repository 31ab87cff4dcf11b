#include "compiler/late_dims.h"
#include "compiler/lower.h"
#include "compiler/targets/cpu/assign_layouts.h"
#include "compiler/targets/cpu/claim.h"
#include "compiler/targets/targets.h"
#include "passes/optimize/rules.h"
#include "providers/provider.h"

namespace tenon {

namespace {

// The cpu provider's kernel where it has one, else the reference's.
std::string family_of(OpId op) {
  const std::string name(op_def(op).name);
  const std::string fast = "cpu/" + name;
  return find_family(fast) ? fast : "reference/" + name;
}

std::string exact_family_of(OpId op) {
  const std::string name(op_def(op).name);
  const std::string fast = "cpu/" + name;
  const KernelFamily* family = find_family(fast);
  return family && family->exact ? fast : "reference/" + name;
}

// The claimers in phases, each of which runs to its end. What nobody claims stays with the kernels of its op, the
// reference's in the last resort.
std::vector<std::vector<Rule>> make_claimers(bool exact) {
  return {
      {claim_matmul(exact), claim_gemm(exact), claim_convolution(exact), claim_transposed_convolution(exact),
       claim_recurrent()},
      // Products merge when all have been claimed with what follows them.
      {merge_products()},
      // What is left of elementwise work. All of it is known before expressions take each other in.
      {claim_pointwise()},
      {fuse_pointwise()},
  };
}

const std::vector<std::vector<Rule>>& claimers(bool exact) {
  static const std::vector<std::vector<Rule>> phases[] = {make_claimers(false), make_claimers(true)};
  return phases[exact ? 1 : 0];
}

// What exporters take apart and a kernel computes whole. An epsilon or another number that the model has as a weight
// stays one.
Status join_parts(Graph& graph, ChangeLog& log) {
  static const std::vector<Rule> rules = {fuse_gelu(),           fuse_gelu_tanh(),           fuse_quick_gelu(),
                                          fuse_layer_norm(true), fuse_layer_norm_bias(true), fuse_rms_norm(),
                                          join_hard_swish(),     claim_attention(),          absorb_heads()};
  graph.constants->may_ask_weights = false;
  Status status = rewrite(graph, rules, log);
  graph.constants->may_ask_weights = true;
  return status;
}

}  // namespace

Result<LoweredModel> lower_for_cpu(const Graph& graph, bool exact) {
  Graph copy = graph.clone();
  ChangeLog log;
  if (!exact) TN_RETURN_IF_ERROR(join_parts(copy, log));
  for (const std::vector<Rule>& phase : claimers(exact)) TN_RETURN_IF_ERROR(rewrite(copy, phase, log));
  TN_ASSIGN_OR_RETURN(LoweredModel lowered, lower(copy, {family_of, exact_family_of, true}));
  assign_layouts(lowered.program->plan);
  lowered.program->plan.late_dims = find_late_dims(lowered.program->plan);
  lowered.misses = std::move(log.misses);
  for (const Patch::Change& change : log.changes)
    for (const std::string& gone : change.gone_names)
      if (gone != change.root) lowered.absorbed.emplace(gone, change.root);
  return lowered;
}

}  // namespace tenon
