#include "passes/pipeline.h"

#include "ir/infer_readers.h"
#include "passes/normalize/rules.h"
#include "passes/optimize/rules.h"

namespace tenon {

std::vector<Phase> pipeline([[maybe_unused]] NodeMaker* onnx) {
  using enum Capability;
  return {
      {"normalize",
       {
           {FoldConstants, fold_constants(), "first, so that the others see constants wherever there are any"},
           {InlineConstantIf, inline_constant_if(), "before its branch is looked at by the rules below"},
           {RemoveNoOps, remove_identity(), "the no-ops in any order: each only forwards its input"},
           {RemoveNoOps, remove_dropout(), "a no-op"},
           {RemoveNoOps, remove_same_cast(), "a no-op"},
           {RemoveNoOps, remove_same_shape(), "a no-op"},
           {RemoveNoOps, remove_same_order(), "a no-op"},
           {RemoveNoOps, remove_same_slice(), "a no-op"},
           {RemoveNoOps, remove_zero_pad(), "a no-op"},
           {MergeEqualNodes, merge_equal_nodes(), "last, because operands are equal only when all above is done"},
       }},
      // Runs together with the first, so that rules see normal graphs and leave none that is not.
      {"optimize",
       {
           {FuseGelu, fuse_gelu(), "before its product is taken for a scale"},
           {FuseGeluTanh, fuse_gelu_tanh(), "the same"},
           {FuseQuickGelu, fuse_quick_gelu(), "the same"},
           {FuseBiasGelu, fuse_bias_gelu(onnx), "last, because it takes what is a Gelu by now"},
       }},
  };
}

namespace {

// Facts that the file declares are known to the nodes that read them, too.
Status settle_facts(Graph& graph) {
  std::vector<ValueId> values;
  for (size_t i = 0; i < graph.value_count(); ++i)
    if (!graph.value(ValueId(i)).uses.empty()) values.emplace_back(i);
  return infer_readers(graph, values);
}

}  // namespace

Status run_passes(Graph& graph, const CapabilitySet& capabilities, ChangeLog& log, const RewriteOptions& options,
                  NodeMaker* onnx) {
  TN_RETURN_IF_ERROR(settle_facts(graph));
  std::vector<Rule> rules;
  for (const Phase& phase : pipeline(onnx)) {
    for (const Pass& pass : phase.passes)
      if (capabilities.has(pass.capability)) rules.push_back(pass.rule);
    if (capabilities.has(Capability::RemoveUnused)) remove_unused_nodes(graph, log);
    TN_RETURN_IF_ERROR(rewrite(graph, rules, log, options));
  }
  return {};
}

}  // namespace tenon
