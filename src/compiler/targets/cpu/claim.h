#pragma once

#include <optional>
#include <vector>

#include "ir/rewrite.h"
#include "ops/convolution.h"
#include "ops/fused_activation.h"

namespace tenon {

// Nodes that one kernel of the cpu provider computes: a product with a constant weight, what scales and shifts its
// output channels, and an activation.
struct Claim {
  enum class Kind : uint8_t { Product, Convolution, TransposedConvolution };
  Kind kind = Kind::Product;
  std::vector<NodeId> nodes;  // in data-flow order
  ValueId x = kNone, result = kNone;
  ValueId weight = kNone;
  std::string source = "nk";            // how the weight lies, see PackPanels
  int64_t outputs = 0, depth = 0;       // channels of the result; what each is summed over (products)
  int channel_from_end = 1;             // the axis of the channels, counted from the end; 1 is the last
  std::optional<size_t> rank;           // of the result
  ConvParams conv;                      // convolutions
  ConvTransposeParams transposed;       // transposed ones
  ValueId scale = kNone, bias = kNone;  // [outputs], or kNone
  ActivationParams activation;
  ValueId least = kNone, greatest = kNone;  // bounds of a clip that weights hold, or kNone
};

// The rules of the target, in the order in which they run to their end.
const Rule& claim_products();
const Rule& merge_products();

// The dims of a float tensor that depends on constants alone; null for all other values.
const Shape* float_weight_shape(const Graph& graph, ValueId v);
// A constant with one element per output channel: [outputs]; kNone when v is not one.
ValueId channel_values(Patch& patch, const Claim& claim, ValueId v);
// Takes what follows into the claim: normalization, scaling and shifting by constants, and an activation.
void extend_claim(Patch& patch, Claim& claim);
// Makes the kernel that stands for the claimed nodes.
void emit_claim(Patch& patch, const Claim& claim);
// "conv1 + bn1 + relu1": all nodes that a kernel stands for.
std::string claimed_names(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace tenon
