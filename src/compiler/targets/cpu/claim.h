#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/rewrite.h"
#include "ops/packed.h"

namespace tenon {

// Nodes that one kernel computes: a product with a constant weight, what scales and shifts its output channels, and an
// activation.
struct Claim {
  std::vector<NodeId> nodes;  // in data-flow order
  ValueId x = kNone, result = kNone;
  ValueId weight = kNone;
  int64_t outputs = 0;                  // channels of the result
  int channel_from_end = 1;             // the axis of the channels, counted from the end; 1 is the last
  std::optional<size_t> rank;           // of the result
  ValueId scale = kNone, bias = kNone;  // [outputs], or kNone
  ValueId addend = kNone;               // of the shape of the result
  bool takes_addend = false;            // the kernel adds a tensor before the activation
  bool keeps_weight = false;            // no factor goes into the weight, and one sum at most into the bias
  FusedActivation activation;
  ValueId least = kNone, greatest = kNone;  // bounds of a clip that weights hold, or kNone
};

// The claimers of the target, each in its own file. A claimer says why it leaves a node that it is about.
// exact: see lower_for_cpu.
Rule claim_matmul(bool exact = false);
Rule claim_gemm(bool exact = false);
Rule claim_convolution(bool exact = false);
Rule claim_transposed_convolution(bool exact = false);
Rule claim_recurrent();
Rule join_hard_swish();
Rule merge_products();
Rule claim_pointwise();
Rule fuse_pointwise();

// What exporters write attention as; the heads of an attention, where they are parted and joined.
Rule claim_attention();
Rule absorb_heads();
// A node that multiplies or divides x by one number, which another node may compute.
struct Scaling {
  const GraphNode* node = nullptr;
  size_t x = 0;  // the number of its input
};
// The node that makes v, when it is one.
Scaling scaling_of(const Graph& graph, ValueId v);

// A claim that begins with this node, and its patch.
struct Beginning {
  std::unique_ptr<Patch> patch;
  Claim claim;
};
Beginning begin_claim(Graph& graph, NodeId root, std::string_view claimer);

// The dims of a float tensor that depends on constants alone; null for all other values.
const Shape* float_weight_shape(const Graph& graph, ValueId v);
// Why v is not such a weight, as a reason for leaving its node.
std::string why_no_weight(const Graph& graph, ValueId v);
bool is_float(const Graph& graph, ValueId v);
// Adds the input as bias of the convolution; false when there is one that is not constant.
bool take_bias_input(const Graph& graph, Claim& claim, const GraphNode& node);

// A constant with one element per output channel: [outputs]; kNone when v is not one.
ValueId channel_values(Patch& patch, const Claim& claim, ValueId v);
// Takes what follows into the claim: normalization, scaling and shifting by constants, and an activation.
void extend_claim(Patch& patch, Claim& claim);
// Makes the kernel that stands for the claimed nodes and reads this packed weight.
void emit_kernel(Patch& patch, const Claim& claim, OpId op, Params params, ValueId weight);

// A weight as a matrix: [K, N], or the transpose of one [N, K] that can be packed without transposing it first.
struct WeightMatrix {
  ValueId weight = kNone;
  WeightOrder order = WeightOrder::DepthFirst;
  int64_t outputs = 0, depth = 0;
};
// Nothing when the value is not a matrix of weights.
std::optional<WeightMatrix> weight_matrix(const Graph& graph, ValueId v, bool transposed);
// Makes the product of a claim whose weight is this matrix.
void emit_product(Patch& patch, const Claim& claim, const WeightMatrix& matrix);

// "conv1 + bn1 + relu1": all nodes that a kernel stands for.
std::string claimed_names(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace tenon
