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
ValueId reshape(ImportNode& n, ValueId x, std::vector<int64_t> dims);
ValueId reshape_like(ImportNode& n, ValueId x, ValueId like);
ValueId unsqueeze(ImportNode& n, ValueId x, std::vector<int64_t> axes);
// Softmax over all axes from `axis` on, taken together.
ValueId softmax_from(ImportNode& n, ValueId x, int64_t axis);
// x * sigmoid(alpha * x).
ValueId swish(ImportNode& n, ValueId x, float alpha);

// The product of integers (with their zero points: what MatMulInteger takes) times both scales, plus the bias; in
// float32, whatever the scales are.
ValueId scaled_product(ImportNode& n, std::vector<ValueId> operands, ValueId a_scale, ValueId b_scale, ValueId bias);

// An activation named as other ops carry it; absent numbers take the activation's defaults.
struct Activation {
  std::string name;
  std::optional<float> alpha, beta, gamma;
};
ValueId activation(ImportNode& n, ValueId x, const Activation& a);

// The rank of a value; remembers an error and gives nothing when it is not known.
std::optional<int64_t> required_rank(ImportNode& n, ValueId x, const char* why);
// Axes of [batch, spatial..., channels] in the order [batch, channels, spatial...], and back.
std::vector<int64_t> channels_first(int64_t rank);
std::vector<int64_t> channels_last(int64_t rank);

}  // namespace tenon::emit
