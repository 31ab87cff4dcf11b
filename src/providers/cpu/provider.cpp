// The cpu provider: fast kernels for the ops that the compiler's cpu target makes, and for ops as they are.
#include "providers/cpu/kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "providers/cpu/rows.h"

namespace tenon {

KernelFunction reference_function(OpId op) {
  return find_family(fmt::format("reference/{}", op_def(op).name))->variants.front().run;
}

std::vector<Variant> with_reference(OpId op, std::initializer_list<Variant> variants) {
  std::vector<Variant> all(variants);
  all.push_back({.name = "plain", .run = reference_function(op), .keeps_subnormals = true});
  return all;
}

namespace {

// A family for an op as ONNX has it.
KernelFamily whole_op(OpId op, std::span<const Variant> variants) {
  return {
      .name = fmt::format("cpu/{}", op_def(op).name),
      .variants = variants,
      .takes_blocked = std::ranges::any_of(variants, [](const Variant& v) { return v.layouts != Variant::For::Plain; }),
      .one_element_per_byte = true};
}

std::vector<KernelFamily> make_families() {
  std::vector<KernelFamily> families = {
      {.name = "cpu/PackPanels", .variants = pack_panels_variants(), .watches_inputs = true, .exact = true},
      {.name = "cpu/PackedMatMul", .variants = packed_matmul_variants()},
      {.name = "cpu/PackedConv", .variants = packed_conv_variants(), .takes_blocked = true},
      {.name = "cpu/PackedConvTranspose", .variants = packed_conv_transpose_variants(), .takes_blocked = true},
      {.name = "cpu/Pointwise", .variants = pointwise_variants(), .takes_blocked = true},
      {.name = "cpu/Reorder", .variants = reorder_variants(), .takes_blocked = true, .takes_borders = true},
      whole_op(OpId::ArgMax, arg_max_variants()),
      whole_op(OpId::ArgMin, arg_min_variants()),
      whole_op(OpId::Attention, attention_variants()),
      whole_op(OpId::AveragePool, average_pool_variants()),
      whole_op(OpId::BatchNormalization, batch_normalization_variants()),
      whole_op(OpId::ConstantOfShape, constant_of_shape_variants()),
      whole_op(OpId::CumProd, cum_prod_variants()),
      whole_op(OpId::CumSum, cum_sum_variants()),
      whole_op(OpId::DequantizeLinear, dequantize_linear_variants()),
      whole_op(OpId::DFT, dft_variants()),
      whole_op(OpId::Einsum, einsum_variants()),
      whole_op(OpId::EyeLike, eye_like_variants()),
      whole_op(OpId::GatherElements, gather_elements_variants()),
      whole_op(OpId::GatherND, gather_nd_variants()),
      whole_op(OpId::Gemm, gemm_variants()),
      whole_op(OpId::GlobalAveragePool, global_average_pool_variants()),
      whole_op(OpId::GlobalLpPool, global_lp_pool_variants()),
      whole_op(OpId::GlobalMaxPool, global_max_pool_variants()),
      whole_op(OpId::GridSample, grid_sample_variants()),
      whole_op(OpId::GroupNormalization, group_normalization_variants()),
      whole_op(OpId::InstanceNormalization, instance_normalization_variants()),
      whole_op(OpId::LayerNormalization, layer_normalization_variants()),
      whole_op(OpId::LogSoftmax, log_softmax_variants()),
      whole_op(OpId::LpNormalization, lp_normalization_variants()),
      whole_op(OpId::LpPool, lp_pool_variants()),
      whole_op(OpId::LRN, lrn_variants()),
      whole_op(OpId::MatMul, matmul_variants()),
      whole_op(OpId::MaxPool, max_pool_variants()),
      whole_op(OpId::NonMaxSuppression, non_max_suppression_variants()),
      whole_op(OpId::OneHot, one_hot_variants()),
      whole_op(OpId::Pad, pad_variants()),
      whole_op(OpId::QuantizeLinear, quantize_linear_variants()),
      whole_op(OpId::ReduceLogSumExp, reduce_log_sum_exp_variants()),
      whole_op(OpId::Resize, resize_variants()),
      whole_op(OpId::RMSNormalization, rms_normalization_variants()),
      whole_op(OpId::ScatterElements, scatter_elements_variants()),
      whole_op(OpId::ScatterND, scatter_nd_variants()),
      whole_op(OpId::Softmax, softmax_variants()),
      whole_op(OpId::STFT, stft_variants()),
      whole_op(OpId::TopK, top_k_variants()),
      whole_op(OpId::Trilu, trilu_variants()),
  };
  for (const OpId op : {OpId::ReduceL1, OpId::ReduceL2, OpId::ReduceLogSum, OpId::ReduceMax, OpId::ReduceMean,
                        OpId::ReduceMin, OpId::ReduceProd, OpId::ReduceSum, OpId::ReduceSumSquare})
    families.push_back(whole_op(op, reduction_variants(op)));
  for (const OpId op : {OpId::Concat, OpId::DepthToSpace, OpId::Expand, OpId::Gather, OpId::Slice, OpId::SpaceToDepth,
                        OpId::Split, OpId::Tile, OpId::Transpose})
    families.push_back(whole_op(op, movement_variants(op)));
#define OP(name) families.push_back(whole_op(OpId::name, typed_element_variants(OpId::name)));
  TENON_TYPED_OPS(OP)
#undef OP
  for (const OpId op : {OpId::GRU, OpId::LSTM, OpId::RNN}) families.push_back(whole_op(op, recurrent_variants(op)));
  for (KernelFamily& family : families) family.flushes_subnormals = !family.exact;
  return families;
}

}  // namespace

const KernelFamily* find_cpu_family(std::string_view name) {
  static const std::vector<KernelFamily> families = make_families();
  for (const KernelFamily& family : families)
    if (family.name == name) return &family;
  return nullptr;
}

}  // namespace tenon
