// A QuantizeLinear of what was dequantized with the same numbers, and the reverse.
#include "ir/readers.h"
#include "ops/quantize.h"
#include "passes/optimize/constants.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kRemoveRequantize = "remove_requantize", kRoundingRule = "remove_quantize_rounding";

bool is_same_operand(Graph& graph, const GraphNode& a, const GraphNode& b, size_t i, std::string_view rule) {
  const auto operand = [&](const GraphNode& node) { return i < node.inputs.size() ? node.inputs[i] : ValueId(kNone); };
  return is_same_constant(graph, operand(a), operand(b), rule);
}

// Whether both nodes have one scale and one zero point, the same and constant.
bool has_same_numbers(Graph& graph, const GraphNode& quantize, const GraphNode& dequantize, std::string_view rule) {
  const auto& q = quantize.params.get<QuantizeLinearParams>();
  const auto& d = dequantize.params.get<DequantizeLinearParams>();
  if (q.block_size != 0 || d.block_size != 0 || quantize.inputs.size() < 2 || dequantize.inputs.size() < 2)
    return false;
  if (count_of(graph, quantize.inputs[1]) != 1 || graph.value(quantize.inputs[1]).constant == kNone) return false;
  return is_same_operand(graph, quantize, dequantize, 1, rule) && is_same_operand(graph, quantize, dequantize, 2, rule);
}

// Integers of up to 16 bits come back from float32 as long as the scale loses no bits.
bool comes_back(Graph& graph, const GraphNode& quantize, DType dtype) {
  constexpr double kLeast = 0x1p-100, kMost = 0x1p100;
  const bool is_narrow =
      dtype == DType::Int8 || dtype == DType::UInt8 || dtype == DType::Int16 || dtype == DType::UInt16;
  return is_narrow && graph.value(quantize.inputs[1]).type.dtype == DType::Float32 &&
         graph.ask(quantize.inputs[1], Property::in_range(kLeast, kMost), kRemoveRequantize) == Answer::Yes;
}

Attempt match_quantize(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* before = maker(graph, node.inputs[0], OpId::DequantizeLinear);
  if (!before) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  const ValueId source = before->inputs[0];
  const DType dtype = graph.value(source).type.dtype;
  if (dtype != graph.value(node.outputs[0]).type.dtype || !has_same_numbers(graph, node, *before, kRemoveRequantize) ||
      !comes_back(graph, node, dtype))
    return Attempt::no("its scale and zero point are not known to be those that it was dequantized with");
  auto patch = std::make_unique<Patch>(graph, root, kRemoveRequantize);
  patch->set_reason("it was dequantized with the same scale and zero point");
  patch->forward(node.outputs[0], source);
  return Attempt::of(std::move(patch));
}

Attempt match_dequantize(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* before = maker(graph, node.inputs[0], OpId::QuantizeLinear);
  if (!before) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  const ValueId source = before->inputs[0];
  if (graph.value(source).type.dtype != graph.value(node.outputs[0]).type.dtype ||
      !has_same_numbers(graph, *before, node, kRoundingRule))
    return Attempt::no("its scale and zero point are not known to be those that it was quantized with");
  auto patch = std::make_unique<Patch>(graph, root, kRoundingRule);
  patch->set_reason("it was quantized with the same scale and zero point");
  patch->forward(node.outputs[0], source);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule remove_requantize() { return {kRemoveRequantize, {OpId::QuantizeLinear}, match_quantize}; }
Rule remove_quantize_rounding() { return {kRoundingRule, {OpId::DequantizeLinear}, match_dequantize}; }

}  // namespace tenon
