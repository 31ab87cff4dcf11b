// What follows a product and can be computed with it.
#include <array>
#include <limits>

#include "compiler/targets/cpu/claim.h"
#include "ir/readers.h"
#include "ops/activation.h"
#include "ops/normalization.h"

namespace tenon {

ValueId channel_values(Patch& patch, const Claim& claim, ValueId v) {
  const Shape* shape = float_weight_shape(patch.graph(), v);
  if (!shape || shape->size() > claim.rank.value_or(1)) return kNone;
  const int64_t count = element_count(*shape).value();
  const int channel = static_cast<int>(shape->size()) - claim.channel_from_end;
  for (size_t i = 0; i < shape->size(); ++i)
    if (static_cast<int>(i) != channel && (*shape)[i].value() != 1) return kNone;
  if (count != 1 && count != claim.outputs) return kNone;
  if (shape->size() == 1 && count == claim.outputs) return v;
  const auto dims = [&](int64_t extent) { return patch.literal(Tensor::of_ints(std::array{extent})); };
  const ValueId flat = patch.op(OpId::Reshape, {v, dims(count)});
  return count == claim.outputs ? flat : patch.op(OpId::Expand, {flat, dims(claim.outputs)});
}

namespace {

// result * factor
void multiply(Patch& patch, Claim& claim, ValueId factor) {
  claim.scale = claim.scale == kNone ? factor : patch.op(OpId::Mul, {claim.scale, factor});
  if (claim.bias != kNone) claim.bias = patch.op(OpId::Mul, {claim.bias, factor});
}

// result + term
void add(Patch& patch, Claim& claim, ValueId term) {
  claim.bias = claim.bias == kNone ? term : patch.op(OpId::Add, {claim.bias, term});
}

bool absorb_normalization(Patch& patch, Claim& claim, const GraphNode& node) {
  const auto& p = node.params.get<BatchNormalizationParams>();
  const bool channels_second = claim.rank && claim.channel_from_end + 1 == static_cast<int>(*claim.rank);
  if (p.training_mode || !channels_second || claim.keeps_weight) return false;
  std::vector<ValueId> inputs;  // scale, shift, mean, variance
  for (size_t i = 1; i < 5; ++i) {
    const Shape* shape = float_weight_shape(patch.graph(), node.inputs[i]);
    if (!shape || shape->size() != 1 || (*shape)[0].value() != claim.outputs) return false;
    inputs.push_back(node.inputs[i]);
  }
  const ValueId epsilon = patch.literal(Tensor::of<float>({}, std::span(&p.epsilon, 1)), "epsilon");
  // In the name of the normalization, whose epsilon a step of the weight program holds now.
  patch.set_name(node.name);
  const ValueId deviation = patch.op(OpId::Sqrt, {patch.op(OpId::Add, {inputs[3], epsilon})});
  patch.set_name(patch.graph().node(patch.root()).name);
  const ValueId factor = patch.op(OpId::Div, {inputs[0], deviation});
  if (claim.bias == kNone) {
    claim.bias = patch.op(OpId::Sub, {inputs[1], patch.op(OpId::Mul, {inputs[2], factor})});
  } else {
    const ValueId centred = patch.op(OpId::Sub, {claim.bias, inputs[2]});
    claim.bias = patch.op(OpId::Add, {patch.op(OpId::Mul, {centred, factor}), inputs[1]});
  }
  claim.scale = claim.scale == kNone ? factor : patch.op(OpId::Mul, {claim.scale, factor});
  return true;
}

// A tensor of the same shape as the result, such as what goes around a block of layers.
bool absorb_addend(const Graph& graph, Claim& claim, const GraphNode& node, ValueId other) {
  if (node.op != OpId::Add || !claim.takes_addend || other == claim.result) return false;
  const auto &shape = graph.value(claim.result).type.shape, &added = graph.value(other).type.shape;
  if (!is_float(graph, other) || !shape || !added || *shape != *added) return false;
  claim.addend = other;
  return true;
}

bool absorb_arithmetic(Patch& patch, Claim& claim, const GraphNode& node) {
  const bool first = node.inputs[0] == claim.result;
  const ValueId operand = node.inputs[first ? 1 : 0], other = channel_values(patch, claim, operand);
  if (other == kNone) return absorb_addend(patch.graph(), claim, node, operand);
  if (claim.keeps_weight && (node.op == OpId::Mul || node.op == OpId::Div || claim.bias != kNone)) return false;
  switch (node.op) {
    case OpId::Mul:
      multiply(patch, claim, other);
      return true;
    case OpId::Add:
      add(patch, claim, other);
      return true;
    case OpId::Sub:
      if (!first) return false;
      add(patch, claim, patch.op(OpId::Neg, {other}));
      return true;
    case OpId::Div:
      if (!first) return false;
      multiply(patch, claim, patch.op(OpId::Reciprocal, {other}));
      return true;
    default:
      return false;
  }
}

// A bound of a Clip: a number where the model itself says it, an input of the kernel where a weight does. False when it
// is neither.
bool take_bound(Patch& patch, const GraphNode& node, size_t input, float& bound, ValueId& weight) {
  if (node.inputs.size() <= input || node.inputs[input] == kNone) return true;
  const ValueId v = node.inputs[input];
  const Shape* shape = float_weight_shape(patch.graph(), v);
  if (!shape || !element_count(*shape).equals(1)) return false;
  const Constant* constant = patch.graph().constant(v);
  if (!constant || !constant->is_literal()) {
    weight = v;
    return true;
  }
  const Tensor* tensor = patch.graph().ask_elements(v, "the fusion of Clip");
  if (!tensor) return false;
  bound = tensor->as<float>()[0];
  return true;
}

std::optional<FusedActivation> activation_of(Patch& patch, Claim& claim, const GraphNode& node) {
  const auto named = [](ActivationKind kind, float alpha = 0, float beta = 0) {
    return FusedActivation{kind, alpha, beta};
  };
  switch (node.op) {
    case OpId::Relu:
      return named(ActivationKind::Relu);
    case OpId::Sigmoid:
      return named(ActivationKind::Sigmoid);
    case OpId::Tanh:
      return named(ActivationKind::Tanh);
    case OpId::HardSwish:
      return named(ActivationKind::HardSwish);
    case OpId::LeakyRelu:
      return named(ActivationKind::LeakyRelu, node.params.get<LeakyReluParams>().alpha);
    case OpId::Elu:
      return named(ActivationKind::Elu, node.params.get<EluParams>().alpha);
    case OpId::Swish:
      return named(ActivationKind::Silu, node.params.get<SwishParams>().alpha);
    case OpId::HardSigmoid: {
      const auto& p = node.params.get<HardSigmoidParams>();
      return named(ActivationKind::HardSigmoid, p.alpha, p.beta);
    }
    case OpId::Gelu:
      return named(node.params.get<GeluParams>().approximate == "tanh" ? ActivationKind::GeluTanh
                                                                       : ActivationKind::Gelu);
    case OpId::Clip: {
      float least = std::numeric_limits<float>::lowest(), greatest = std::numeric_limits<float>::max();
      ValueId low = kNone, high = kNone;
      if (!take_bound(patch, node, 1, least, low) || !take_bound(patch, node, 2, greatest, high)) return std::nullopt;
      claim.least = low;
      claim.greatest = high;
      return named(ActivationKind::Clip, low == kNone ? least : 0, high == kNone ? greatest : 0);
    }
    default:
      return std::nullopt;
  }
}

bool is_arithmetic(OpId op) { return op == OpId::Mul || op == OpId::Add || op == OpId::Sub || op == OpId::Div; }

bool absorb_into_claim(Patch& patch, Claim& claim, const GraphNode& node) {
  // What follows an addend would scale it, too.
  const bool is_linear = claim.addend == kNone;
  if (node.op == OpId::BatchNormalization) return is_linear && absorb_normalization(patch, claim, node);
  if (is_arithmetic(node.op)) return is_linear && absorb_arithmetic(patch, claim, node);
  const auto activation = activation_of(patch, claim, node);
  if (activation) claim.activation = *activation;
  return activation.has_value();
}

}  // namespace

void extend_claim(Patch& patch, Claim& claim) {
  while (claim.activation.kind == ActivationKind::None) {
    const NodeId next = only_reader(patch.graph(), claim.result);
    if (next == kNone) return;
    const GraphNode& node = patch.graph().node(next);
    const bool one_result = !node.outputs.empty() && node.outputs[0] != kNone && node.bodies.empty();
    if (!one_result || node.inputs[0] == kNone || !absorb_into_claim(patch, claim, node)) return;
    claim.nodes.push_back(next);
    claim.result = node.outputs[0];
  }
}

}  // namespace tenon
