// A Conv or Gemm and the activation that follows it.
#include "ir/readers.h"
#include "ops/activation.h"
#include "ops/convolution.h"
#include "ops/gemm.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

// Those that the ops have in all their versions.
std::vector<OpId> activations_of(OpId product) {
  std::vector<OpId> ops{OpId::Relu, OpId::Sigmoid, OpId::Tanh, OpId::LeakyRelu, OpId::HardSigmoid};
  if (product == OpId::Conv) ops.push_back(OpId::Clip);
  return ops;
}

// The numbers of an activation, as attributes have them; nothing: they are not known.
std::optional<std::vector<float>> numbers_of(Graph& graph, const GraphNode& node, std::string_view rule) {
  if (node.op == OpId::LeakyRelu) return std::vector{node.params.get<LeakyReluParams>().alpha};
  if (node.op == OpId::HardSigmoid) {
    const auto& params = node.params.get<HardSigmoidParams>();
    return std::vector{params.alpha, params.beta};
  }
  std::vector<float> numbers;
  if (node.op != OpId::Clip) return numbers;
  if (node.inputs.size() != 3) return std::nullopt;
  for (size_t i = 1; i < 3; ++i) {
    const auto limit = number_of(graph, node.inputs[i], rule);
    if (!limit) return std::nullopt;
    numbers.push_back(static_cast<float>(*limit));
  }
  return numbers;
}

std::vector<wire::Attribute> conv_attributes(wire::MessageBuilder& messages, const GraphNode& conv) {
  const auto& params = conv.params.get<ConvParams>();
  std::vector<wire::Attribute> attributes{messages.make_int("group", params.group)};
  if (params.window.auto_pad != "NOTSET")
    attributes.push_back(messages.make_string("auto_pad", params.window.auto_pad));
  const auto add = [&](const char* name, const std::vector<int64_t>& numbers) {
    if (!numbers.empty()) attributes.push_back(messages.make_ints(name, numbers));
  };
  add("kernel_shape", params.window.kernel_shape);
  add("strides", params.window.strides);
  add("dilations", params.window.dilations);
  add("pads", params.window.pads);
  return attributes;
}

std::vector<wire::Attribute> gemm_attributes(wire::MessageBuilder& messages, const GraphNode& gemm) {
  const auto& params = gemm.params.get<GemmParams>();
  return {messages.make_float("alpha", params.alpha), messages.make_float("beta", params.beta),
          messages.make_int("transA", params.transA), messages.make_int("transB", params.transB)};
}

void add_activation(wire::MessageBuilder& messages, const GraphNode& node, const std::vector<float>& numbers,
                    OnnxNode& made) {
  made.attributes.push_back(messages.make_string("activation", op_def(node.op).name));
  if (numbers.empty()) return;
  if (made.op_type == "FusedConv") return made.attributes.push_back(messages.make_floats("activation_params", numbers));
  constexpr const char* names[] = {"activation_alpha", "activation_beta"};
  for (size_t i = 0; i < numbers.size(); ++i) made.attributes.push_back(messages.make_float(names[i], numbers[i]));
}

Attempt match_activation(NodeMaker& onnx, Graph& graph, NodeId root, OpId op, std::string_view rule) {
  const GraphNode& node = graph.node(root);
  const GraphNode* product = maker(graph, node.inputs[0], op);
  if (!product) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  if (!is_float32(graph, node.inputs[0])) return Attempt::no("its elements are not float32");
  const auto numbers = numbers_of(graph, node, rule);
  if (!numbers) return Attempt::no("the limits of its Clip are not known");
  const bool is_conv = op == OpId::Conv;
  OnnxNode made{kMicrosoftDomain, is_conv ? "FusedConv" : "FusedGemm", product->inputs,
                is_conv ? conv_attributes(onnx.messages(), *product) : gemm_attributes(onnx.messages(), *product)};
  add_activation(onnx.messages(), node, *numbers, made);
  auto patch = std::make_unique<Patch>(graph, root, rule);
  patch->set_reason(fmt::format("com.microsoft.{} applies its activation itself", made.op_type));
  patch->redefine(node.outputs[0], onnx.make(*patch, made)[0]);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_conv_activation(NodeMaker* onnx) {
  return writing_rule("fuse_conv_activation", activations_of(OpId::Conv), onnx,
                      [](NodeMaker& maker, Graph& graph, NodeId root) {
                        return match_activation(maker, graph, root, OpId::Conv, "fuse_conv_activation");
                      });
}

Rule fuse_gemm_activation(NodeMaker* onnx) {
  return writing_rule("fuse_gemm_activation", activations_of(OpId::Gemm), onnx,
                      [](NodeMaker& maker, Graph& graph, NodeId root) {
                        return match_activation(maker, graph, root, OpId::Gemm, "fuse_gemm_activation");
                      });
}

}  // namespace tenon
