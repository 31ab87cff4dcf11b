// What follows a product and can be computed with it.
#include <array>
#include <limits>

#include "compiler/targets/cpu/claim.h"
#include "ops/activation.h"
#include "ops/normalization.h"

namespace tenon {

ValueId channel_values(GraphEdit& edit, const Claim& claim, ValueId v) {
  const Shape* shape = edit.weight_shape(v);
  if (!shape || shape->size() > claim.rank.value_or(1)) return kNone;
  const int64_t count = element_count(*shape).value();
  const int channel = static_cast<int>(shape->size()) - claim.channel_from_end;
  for (size_t i = 0; i < shape->size(); ++i)
    if (static_cast<int>(i) != channel && (*shape)[i].value() != 1) return kNone;
  if (count != 1 && count != claim.outputs) return kNone;
  if (shape->size() == 1 && count == claim.outputs) return v;
  const auto dims = [&](int64_t extent) { return edit.constant(Tensor::of_ints(std::array{extent})); };
  const ValueId flat = edit.emit(OpId::Reshape, {}, {v, dims(count)});
  return count == claim.outputs ? flat : edit.emit(OpId::Expand, {}, {flat, dims(claim.outputs)});
}

namespace {

ValueId emit(GraphEdit& edit, OpId op, ValueId a, ValueId b) { return edit.emit(op, {}, {a, b}); }

// result * factor
void multiply(GraphEdit& edit, Claim& claim, ValueId factor) {
  claim.scale = claim.scale == kNone ? factor : emit(edit, OpId::Mul, claim.scale, factor);
  if (claim.bias != kNone) claim.bias = emit(edit, OpId::Mul, claim.bias, factor);
}

// result + term
void add(GraphEdit& edit, Claim& claim, ValueId term) {
  claim.bias = claim.bias == kNone ? term : emit(edit, OpId::Add, claim.bias, term);
}

bool take_normalization(GraphEdit& edit, Claim& claim, const GraphNode& node) {
  const auto& p = node.params.get<BatchNormalizationParams>();
  const bool channels_second = claim.rank && claim.channel_from_end + 1 == static_cast<int>(*claim.rank);
  if (p.training_mode || !channels_second) return false;
  std::vector<ValueId> inputs;  // scale, shift, mean, variance
  for (size_t i = 1; i < 5; ++i) {
    const Shape* shape = edit.weight_shape(node.inputs[i]);
    if (!shape || shape->size() != 1 || (*shape)[0].value() != claim.outputs) return false;
    inputs.push_back(node.inputs[i]);
  }
  const ValueId epsilon = edit.constant(Tensor::of<float>({}, std::span(&p.epsilon, 1)), "epsilon");
  const ValueId deviation = edit.emit(OpId::Sqrt, {}, {edit.emit(OpId::Add, {}, {inputs[3], epsilon}, node.name)});
  const ValueId factor = emit(edit, OpId::Div, inputs[0], deviation);
  if (claim.bias == kNone) {
    claim.bias = emit(edit, OpId::Sub, inputs[1], emit(edit, OpId::Mul, inputs[2], factor));
  } else {
    const ValueId centred = emit(edit, OpId::Sub, claim.bias, inputs[2]);
    claim.bias = emit(edit, OpId::Add, emit(edit, OpId::Mul, centred, factor), inputs[1]);
  }
  claim.scale = claim.scale == kNone ? factor : emit(edit, OpId::Mul, claim.scale, factor);
  return true;
}

bool take_arithmetic(GraphEdit& edit, Claim& claim, const GraphNode& node) {
  const bool first = node.inputs[0] == claim.result;
  const ValueId other = channel_values(edit, claim, node.inputs[first ? 1 : 0]);
  if (other == kNone) return false;
  switch (node.op) {
    case OpId::Mul:
      multiply(edit, claim, other);
      return true;
    case OpId::Add:
      add(edit, claim, other);
      return true;
    case OpId::Sub:
      if (!first) return false;
      add(edit, claim, edit.emit(OpId::Neg, {}, {other}));
      return true;
    case OpId::Div:
      if (!first) return false;
      multiply(edit, claim, edit.emit(OpId::Reciprocal, {}, {other}));
      return true;
    default:
      return false;
  }
}

// A bound of a Clip; false when it is not a small constant.
bool read_bound(GraphEdit& edit, const GraphNode& node, size_t input, float& bound) {
  if (node.inputs.size() <= input || node.inputs[input] == kNone) return true;
  const Tensor* tensor = edit.ask(node.inputs[input], "the fusion of node '" + node.name + "' with what it clips");
  if (!tensor || tensor->dtype() != DType::Float32 || tensor->size() != 1) return false;
  bound = tensor->as<float>()[0];
  return true;
}

std::optional<ActivationParams> activation_of(GraphEdit& edit, const GraphNode& node) {
  const auto named = [](ActivationKind kind, float alpha = 0, float beta = 0) {
    return ActivationParams{activation_name(kind), alpha, beta};
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
      if (!read_bound(edit, node, 1, least) || !read_bound(edit, node, 2, greatest)) return std::nullopt;
      return named(ActivationKind::Clip, least, greatest);
    }
    default:
      return std::nullopt;
  }
}

bool is_arithmetic(OpId op) { return op == OpId::Mul || op == OpId::Add || op == OpId::Sub || op == OpId::Div; }

bool take(GraphEdit& edit, Claim& claim, const GraphNode& node) {
  if (node.op == OpId::BatchNormalization) return take_normalization(edit, claim, node);
  if (is_arithmetic(node.op)) return take_arithmetic(edit, claim, node);
  // Transposed convolutions have no kernel that takes an activation.
  if (claim.kind == Claim::Kind::TransposedConvolution) return false;
  const auto activation = activation_of(edit, node);
  if (activation) claim.activation = *activation;
  return activation.has_value();
}

}  // namespace

void extend_claim(GraphEdit& edit, Claim& claim) {
  edit.go_to(claim.nodes[0]);
  while (claim.activation.activation == ActivationParams().activation) {
    const NodeId next = edit.only_reader(claim.result);
    if (next == kNone) return;
    const GraphNode& node = edit.node(next);
    const bool one_result = !node.outputs.empty() && node.outputs[0] != kNone && node.bodies.empty();
    if (!one_result || node.inputs[0] == kNone || !take(edit, claim, node)) return;
    claim.nodes.push_back(next);
    claim.result = node.outputs[0];
  }
}

}  // namespace tenon
