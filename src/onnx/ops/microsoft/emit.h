#pragma once

#include "onnx/import_node.h"

// The pieces that fused ops are made of.
namespace tenon::emit {

// An op with one input (or two) and default parameters.
ValueId plain(ImportNode& n, OpId op, ValueId x);
ValueId plain(ImportNode& n, OpId op, ValueId a, ValueId b);
// a + b; a alone when there is no b.
ValueId add(ImportNode& n, ValueId a, ValueId b);
// x converted; x itself when that is its type already.
ValueId cast(ImportNode& n, ValueId x, DType to);
// factor * x, the factor in x's type.
ValueId scale(ImportNode& n, ValueId x, float factor);
ValueId transpose(ImportNode& n, ValueId x, std::vector<int64_t> perm);
// Dims may be 0 (as in x) and -1 (what is left).
ValueId reshape(ImportNode& n, ValueId x, const std::vector<int64_t>& dims);
ValueId reshape_like(ImportNode& n, ValueId x, ValueId like);
ValueId unsqueeze(ImportNode& n, ValueId x, const std::vector<int64_t>& axes);
// Softmax over all axes from `axis` on, taken together.
ValueId softmax_from(ImportNode& n, ValueId x, int64_t axis);
// x * sigmoid(alpha * x).
ValueId swish(ImportNode& n, ValueId x, float alpha);

// The product of integers (with their zero points: what MatMulInteger takes) times both scales, plus the bias; in
// float32, whatever the scales are.
ValueId scaled_product(ImportNode& n, std::vector<ValueId> operands, ValueId a_scale, ValueId b_scale, ValueId bias);

ValueId gather(ImportNode& n, ValueId x, ValueId indices, int64_t axis);
// Positions [0, count) along an axis.
ValueId first(ImportNode& n, ValueId x, int64_t axis, int64_t count);

// An activation named as other ops carry it; absent numbers take the activation's defaults. Those of Clip are its
// limits.
struct Activation {
  std::string name;
  std::optional<float> alpha, beta, gamma;
};
ValueId activation(ImportNode& n, ValueId x, const Activation& a);

// (x - zero) * scale, where the zero point may be absent. block_size 0: one scale per tensor or per position along
// the axis.
struct Quantized {
  ValueId x, scale, zero;
};
ValueId dequantize(ImportNode& n, const Quantized& q, int64_t axis = 1, int64_t block_size = 0,
                   DType to = DType::Undefined);
// The unsigned numbers of this many bits (2, 4 or 8) that bytes are packed from, side by side along the last axis.
ValueId unpacked(ImportNode& n, ValueId bytes, int64_t bits);
// 2^(bits - 1), the middle of those numbers, in a shape that is a value.
ValueId middle(ImportNode& n, ValueId shape, int64_t bits);

}  // namespace tenon::emit
