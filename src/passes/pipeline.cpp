#include "passes/pipeline.h"

#include <map>

#include "ir/infer_readers.h"
#include "passes/normalize/rules.h"
#include "passes/optimize/rules.h"

namespace tenon {

std::vector<Phase> pipeline([[maybe_unused]] NodeMaker* onnx) {
  using enum Capability;
  constexpr int64_t kLayerNormalizationSince = 17;
  const bool has_layer_norm = !onnx || onnx->version("") >= kLayerNormalizationSince;
  return {
      {"normalize",
       {
           {FoldConstants, fold_constants(), "first, so that the others see constants wherever there are any"},
           {InlineConstantIf, inline_constant_if(onnx != nullptr), "before its branch is looked at by the rules below"},
           {RemoveNoOps, remove_identity(), "the no-ops in any order: each only forwards its input"},
           {RemoveNoOps, remove_dropout(), "a no-op"},
           {RemoveNoOps, remove_same_cast(), "a no-op"},
           {RemoveNoOps, remove_same_shape(), "a no-op"},
           {RemoveNoOps, remove_same_order(), "a no-op"},
           {RemoveNoOps, remove_same_slice(), "a no-op"},
           {RemoveNoOps, remove_zero_pad(), "a no-op"},
           {MergeEqualNodes, merge_equal_shapes(), "before the rule below: equal nodes have the same operands"},
           {MergeEqualNodes, merge_equal_nodes(), "last, because operands are equal only when all above is done"},
       }},
      // Runs together with the first, so that rules see normal graphs and leave none that is not.
      {"optimize",
       {
           {FuseGelu, fuse_gelu(), "before its product is taken for a scale"},
           {FuseGeluTanh, fuse_gelu_tanh(), "the same"},
           {FuseQuickGelu, fuse_quick_gelu(), "the same"},
           {FoldWeights, fold_weights(), "first, so that the others see weights wherever there are any"},
           {RemoveNot, remove_not(), "what only cleans up, before patterns are looked for"},
           {MergeCasts, merge_casts(), "the same"},
           {MergeClips, merge_clips(), "the same"},
           {MergeTransposes, merge_transposes(), "the same"},
           {SinkTransposes, sink_transposes(), "when neighbours have been merged"},
           {ReduceReshapeTranspose, reduce_reshape_transpose(), "before its Reshape goes into another one"},
           {MergeReshapes, merge_reshapes(), "the same"},
           {MergeSqueezes, merge_squeezes(), "the same"},
           {MergeGathers, merge_gather_axes(), "before a Gather is looked at with the one before it"},
           {MergeGathers, merge_gathers(), "the same"},
           {SliceShapes, slice_shapes(), "when a Gather has an axis of its own"},
           {SliceShapes, shapes_of_inputs(), "when there are Shapes of some axes"},
           {SliceShapes, join_shapes(), "the same"},
           {MergeSlices, merge_slices(), "before parts are looked for"},
           {SlicesToSplit, slices_to_split(), "before all parts are joined"},
           {SimplifyConcat, simplify_concat(), "the same"},
           {SimplifyConcat, simplify_split(), "the same"},
           {RemoveRequantize, remove_requantize(), "exact, and so before the other"},
           {RemoveQuantizeRounding, remove_quantize_rounding(), "the same"},
           {FusePad, fuse_pad(), "before the window belongs to a fused op"},
           {FuseConvBn, fuse_conv_bn(), "while the product has no activation that would separate them"},
           {FuseConvMul, fuse_conv_mul(), "the same"},
           {FuseConvAdd, fuse_conv_add(), "the same"},
           {FuseMatmulBn, fuse_matmul_bn(), "the same"},
           {FuseMatmulMul, fuse_matmul_mul(), "the same"},
           {FuseMatmulAdd, fuse_matmul_add(), "before a Gemm is looked for"},
           {FuseGemmAdd, fuse_gemm_add(), "when there is a Gemm to add to"},
           {FuseGemmTranspose, fuse_gemm_transpose(), "the same"},
           {FuseLayerNorm, fuse_layer_norm(has_layer_norm), "before its parts are taken for something else"},
           {FuseLayerNorm, fuse_layer_norm_bias(has_layer_norm), "when there is a normalization to add to"},
           {FuseRmsNorm, fuse_rms_norm(), "the same"},
           {FuseConvActivation, fuse_conv_activation(onnx), "when the product has all that is linear"},
           {FuseGemmActivation, fuse_gemm_activation(onnx), "the same"},
           {FuseDynamicQuantizeMatmul, fuse_dynamic_quantize_matmul(onnx), "when its bias has not gone elsewhere"},
           {FuseRotaryEmbedding, fuse_rotary_embedding(onnx), "before attention is looked for that turns by itself"},
           {FuseAttention, fuse_attention(onnx), "before its products become something else"},
           {FusePackedAttention, fuse_packed_attention(onnx), "takes most nodes, so before the others"},
           {PackAttentionWeights, pack_attention_weights(onnx), "where no product is for all three"},
           {FuseGroupQueryAttention, fuse_group_query_attention(onnx), "where keys serve groups or follow a past"},
           {FuseMultiHeadAttention, fuse_multi_head_attention(onnx), "where ONNX has no Attention yet"},
           {FuseEmbedLayerNorm, fuse_embed_layer_norm(onnx), "before its sum is taken for a skip connection"},
           {FuseSkipLayerNorm, fuse_skip_layer_norm(onnx), "when the normalization has its bias"},
           {FuseSkipRmsNorm, fuse_skip_rms_norm(onnx), "the same"},
           {FuseBiasGelu, fuse_bias_gelu(onnx), "last, because it takes what is a Gelu by now"},
       }},
      // What would take nodes out of the patterns above.
      {"take what is left",
       {
           {FuseMatmulTranspose, fuse_matmul_transpose(onnx),
            "when no Gemm and no attention can be made of the product"},
           {FuseMatmulScale, fuse_matmul_scale(onnx), "when no weight can take the number"},
           {MultiplyByInverse, multiply_by_inverse(), "when no pattern above needs the Div"},
           {MergeScales, merge_scales(), "when inverses are factors"},
           {FuseBiasSoftmax, fuse_bias_softmax(onnx), "takes what is left of sums before a Softmax"},
       }},
  };
}

std::optional<Capability> capability_of_rule(std::string_view rule) {
  static const auto known = [] {
    std::map<std::string_view, Capability> all{{"inline_functions", Capability::InlineFunctions},
                                               {"remove_unused", Capability::RemoveUnused}};
    for (const Phase& phase : pipeline())
      for (const Pass& pass : phase.passes) all.emplace(pass.rule.name, pass.capability);
    return all;
  }();
  const auto it = known.find(rule);
  return it == known.end() ? std::nullopt : std::optional(it->second);
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
