#pragma once

#include "ir/patch.h"

// Multiplying and adding per channel behind a product with weights is done to the weights instead.
namespace tenon {

// A product with weights: a Conv, a Gemm, or a MatMul with a matrix.
struct WeightedProduct {
  NodeId node;
  ValueId x = kNone, weight = kNone, bias = kNone;
  int64_t channels = 0, rank = 0, axis = 0;  // rank of the result, and the axis of its channels

  // The product that makes a value, if its weights are known to be float weights of a fixed shape; else nothing.
  static std::optional<WeightedProduct> of(const Graph& graph, ValueId v);
};

// y = scale * x + shift for each channel, as vectors; kNone: one, and zero.
struct ChannelAffine {
  ValueId scale = kNone, shift = kNone;
};

// A weight as one number for each channel of the product; kNone when it has another shape.
ValueId channel_vector(Patch& patch, const WeightedProduct& product, ValueId v);

// The product with other weights, so that its result is what `affine` makes of it now.
ValueId fold_affine(Patch& patch, const WeightedProduct& product, const ChannelAffine& affine);

}  // namespace tenon
