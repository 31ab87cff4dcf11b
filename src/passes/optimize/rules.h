#pragma once

#include "ir/rewrite.h"
#include "onnx/node_maker.h"

// The rules that are off by default, each in its own file. Those that write several nodes as one ONNX node are given
// what makes such nodes; with null they never fire.
namespace tenon {

Rule fold_weights();
Rule fuse_attention(NodeMaker* onnx);
Rule fuse_bias_gelu(NodeMaker* onnx);
Rule fuse_bias_softmax(NodeMaker* onnx);
Rule fuse_conv_activation(NodeMaker* onnx);
Rule fuse_conv_add();
Rule fuse_conv_bn();
Rule fuse_conv_mul();
Rule fuse_dynamic_quantize_matmul(NodeMaker* onnx);
Rule fuse_embed_layer_norm(NodeMaker* onnx);
Rule fuse_gelu();
Rule fuse_gelu_tanh();
Rule fuse_gemm_activation(NodeMaker* onnx);
Rule fuse_gemm_add();
Rule fuse_gemm_transpose();
Rule fuse_group_query_attention(NodeMaker* onnx);
// is_available: the version of ONNX has LayerNormalization.
Rule fuse_layer_norm(bool is_available);
Rule fuse_layer_norm_bias(bool is_available);
Rule fuse_matmul_add();
Rule fuse_matmul_bn();
Rule fuse_matmul_mul();
Rule fuse_matmul_scale(NodeMaker* onnx);
Rule fuse_matmul_transpose(NodeMaker* onnx);
Rule fuse_multi_head_attention(NodeMaker* onnx);
Rule fuse_packed_attention(NodeMaker* onnx);
Rule fuse_pad();
Rule fuse_quick_gelu();
Rule fuse_rms_norm();
Rule fuse_rotary_embedding(NodeMaker* onnx);
Rule fuse_skip_layer_norm(NodeMaker* onnx);
Rule fuse_skip_rms_norm(NodeMaker* onnx);
Rule join_shapes();
Rule merge_casts();
Rule merge_clips();
Rule merge_gather_axes();
Rule merge_gathers();
Rule merge_reshapes();
Rule merge_scales();
Rule merge_slices();
Rule merge_squeezes();
Rule merge_transposes();
Rule multiply_by_inverse();
Rule pack_attention_weights(NodeMaker* onnx);
Rule reduce_reshape_transpose();
Rule remove_not();
Rule remove_quantize_rounding();
Rule remove_requantize();
Rule shapes_of_inputs();
Rule simplify_concat();
Rule simplify_split();
Rule sink_transposes();
Rule slice_shapes();
Rule slices_to_split();

}  // namespace tenon
