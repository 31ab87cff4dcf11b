#pragma once

#include <optional>
#include <vector>

#include "compiler/targets/cpu/graph_edit.h"
#include "ops/convolution.h"
#include "ops/fused_activation.h"

namespace tenon {

// Nodes that one kernel of the cpu provider computes: a product with a constant weight, what scales and shifts its
// output channels, and an activation.
struct Claim {
  enum class Kind : uint8_t { Product, Convolution, TransposedConvolution };
  Kind kind = Kind::Product;
  std::vector<NodeId> nodes;  // in data-flow order; the kernel goes where the first was
  ValueId x = kNone, result = kNone;
  ValueId weight = kNone;
  std::vector<ValueId> neighbours;      // further weights, whose outputs stand beside those of the first
  std::string source = "nk";            // how the weight lies, see PackPanels
  int64_t outputs = 0, depth = 0;       // channels of the result; what each is summed over (products)
  int channel_from_end = 1;             // the axis of the channels, counted from the end; 1 is the last
  std::optional<size_t> rank;           // of the result
  ConvParams conv;                      // convolutions
  ConvTransposeParams transposed;       // transposed ones
  ValueId scale = kNone, bias = kNone;  // [outputs], or kNone
  ActivationParams activation;
  // Results that stand side by side in `result`, with their widths; empty: result is the one.
  struct Split {
    std::vector<ValueId> results;
    std::vector<int64_t> widths;
  };
  Split split;
};

// The product that a node is, when its weight depends on constants alone.
std::optional<Claim> claim_node(GraphEdit& edit, NodeId id);
// Takes what follows into the claim: normalization, scaling and shifting by constants, and an activation.
void extend_claim(GraphEdit& edit, Claim& claim);
// Lets products of the same input share one pass over it, as the projections of an attention do. What is merged leaves
// the list.
void merge_products(GraphEdit& edit, std::vector<Claim>& claims);
// Puts the kernel in the place of the claimed nodes.
void emit_claim(GraphEdit& edit, const Claim& claim);

// A constant with one element per output channel: [outputs]; kNone when v is not one.
ValueId channel_values(GraphEdit& edit, const Claim& claim, ValueId v);

}  // namespace tenon
