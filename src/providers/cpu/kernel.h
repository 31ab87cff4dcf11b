#pragma once

#include "providers/provider.h"

namespace tenon {

// Null when this provider has no such family.
const KernelFamily* find_cpu_family(std::string_view name);

// Each in its own file.
std::span<const Variant> pack_panels_variants();
std::span<const Variant> packed_matmul_variants();
std::span<const Variant> packed_conv_variants();
std::span<const Variant> packed_conv_transpose_variants();
std::span<const Variant> pointwise_variants();
std::span<const Variant> reorder_variants();

// Ops that run here wherever they stand; what the fast variants refuse goes to the reference's kernel.
std::span<const Variant> arg_max_variants();
std::span<const Variant> arg_min_variants();
std::span<const Variant> attention_variants();
std::span<const Variant> average_pool_variants();
std::span<const Variant> batch_normalization_variants();
std::span<const Variant> constant_of_shape_variants();
std::span<const Variant> cum_prod_variants();
std::span<const Variant> cum_sum_variants();
std::span<const Variant> dequantize_linear_variants();
std::span<const Variant> dft_variants();
std::span<const Variant> einsum_variants();
std::span<const Variant> eye_like_variants();
std::span<const Variant> gather_elements_variants();
std::span<const Variant> gather_nd_variants();
std::span<const Variant> gemm_variants();
std::span<const Variant> global_average_pool_variants();
std::span<const Variant> global_lp_pool_variants();
std::span<const Variant> global_max_pool_variants();
std::span<const Variant> grid_sample_variants();
std::span<const Variant> group_normalization_variants();
std::span<const Variant> instance_normalization_variants();
std::span<const Variant> layer_normalization_variants();
std::span<const Variant> log_softmax_variants();
std::span<const Variant> lp_normalization_variants();
std::span<const Variant> lp_pool_variants();
std::span<const Variant> lrn_variants();
std::span<const Variant> matmul_variants();
std::span<const Variant> max_pool_variants();
std::span<const Variant> movement_variants(OpId op);
std::span<const Variant> non_max_suppression_variants();
std::span<const Variant> one_hot_variants();
std::span<const Variant> pad_variants();
std::span<const Variant> quantize_linear_variants();
std::span<const Variant> recurrent_variants(OpId op);
std::span<const Variant> reduce_log_sum_exp_variants();
std::span<const Variant> reduction_variants(OpId op);
std::span<const Variant> resize_variants();
std::span<const Variant> rms_normalization_variants();
std::span<const Variant> scatter_elements_variants();
std::span<const Variant> scatter_nd_variants();
std::span<const Variant> softmax_variants();
std::span<const Variant> stft_variants();
std::span<const Variant> top_k_variants();
std::span<const Variant> trilu_variants();
// Elementwise ops, on the types that Pointwise does not take.
#define TENON_TYPED_OPS(X) \
  X(Abs)                   \
  X(Add)                   \
  X(BitShift)              \
  X(BitwiseAnd)            \
  X(BitwiseNot)            \
  X(BitwiseOr)             \
  X(BitwiseXor)            \
  X(Cast)                  \
  X(Div)                   \
  X(Equal)                 \
  X(Greater)               \
  X(GreaterOrEqual)        \
  X(Less)                  \
  X(LessOrEqual)           \
  X(Max)                   \
  X(Min)                   \
  X(Mod)                   \
  X(Mul)                   \
  X(Neg)                   \
  X(Sign)                  \
  X(Sub)                   \
  X(Where)
std::span<const Variant> typed_element_variants(OpId op);

}  // namespace tenon
