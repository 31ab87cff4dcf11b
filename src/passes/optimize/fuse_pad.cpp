// Padding before a Conv or a pooling that pads itself.
#include <algorithm>
#include <limits>

#include "ir/readers.h"
#include "ops/convolution.h"
#include "ops/pad.h"
#include "ops/pooling.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/constants.h"
#include "passes/optimize/pattern.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kFusePad = "fuse_pad";

// Begins and ends of the padding by axis; nothing when they are not known.
std::optional<std::vector<int64_t>> pads_of(Graph& graph, const GraphNode& pad) {
  const auto rank = rank_of(graph, pad.inputs[0]);
  const auto given = known_integers(graph, pad.inputs[1], kFusePad);
  if (!rank || !given) return std::nullopt;
  const auto axes = pad.inputs.size() > 3 ? known_integers(graph, pad.inputs[3], kFusePad) : std::nullopt;
  if (pad.inputs.size() > 3 && !axes) return std::nullopt;
  std::vector<int64_t> pads(static_cast<size_t>(2 * *rank));
  const size_t count = given->size() / 2;
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = axes ? ((*axes)[i] + *rank) % *rank : static_cast<int64_t>(i);
    pads[static_cast<size_t>(axis)] = (*given)[i];
    pads[static_cast<size_t>(axis + *rank)] = (*given)[count + i];
  }
  return pads;
}

// The window with the padding of its own and of another node; nothing where it cannot have that.
std::optional<WindowParams> padded(WindowParams window, const std::vector<int64_t>& pads) {
  const size_t rank = pads.size() / 2;
  if (window.auto_pad != "NOTSET" && window.auto_pad != "VALID") return std::nullopt;
  if (rank < 3 || pads[0] != 0 || pads[1] != 0 || pads[rank] != 0 || pads[rank + 1] != 0) return std::nullopt;
  const size_t spatial = rank - 2;
  window.auto_pad = "NOTSET";
  if (window.pads.empty()) window.pads.assign(2 * spatial, 0);
  for (size_t i = 0; i < spatial; ++i) {
    if (pads[2 + i] < 0 || pads[rank + 2 + i] < 0) return std::nullopt;
    window.pads[i] += pads[2 + i];
    window.pads[spatial + i] += pads[rank + 2 + i];
  }
  return window;
}

bool pads_nothing(const WindowParams& window) {
  return std::ranges::all_of(window.pads, [](int64_t pad) { return pad == 0; });
}

// The node's parameters with more padding; nothing where that would compute something else.
std::optional<Params> with_pads(const GraphNode& node, const std::vector<int64_t>& pads) {
  if (node.op == OpId::Conv) {
    ConvParams params = node.params.get<ConvParams>();
    const auto window = padded(params.window, pads);
    if (!window) return std::nullopt;
    params.window = *window;
    return Params::of(std::move(params));
  }
  if (node.op == OpId::MaxPool) {
    MaxPoolParams params = node.params.get<MaxPoolParams>();
    const auto window = padded(params.window, pads);
    if (!window || params.ceil_mode) return std::nullopt;
    params.window = *window;
    return Params::of(std::move(params));
  }
  AveragePoolParams params = node.params.get<AveragePoolParams>();
  const auto window = padded(params.window, pads);
  if (!window || params.ceil_mode || !(params.count_include_pad || pads_nothing(params.window))) return std::nullopt;
  params.window = *window;
  params.count_include_pad = true;
  return Params::of(std::move(params));
}

bool pads_with(Graph& graph, const GraphNode& pad, double wanted) {
  if (pad.params.get<PadParams>().mode != "constant") return false;
  if (pad.inputs.size() < 3 || pad.inputs[2] == kNone) return wanted == 0;
  return number_of(graph, pad.inputs[2], kFusePad) == wanted;
}

Attempt match_padded(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* pad = maker(graph, node.inputs[0], OpId::Pad);
  if (!pad) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  if (node.outputs.size() > 1 && node.outputs[1] != kNone && !graph.value(node.outputs[1]).uses.empty())
    return Attempt::no("its indices count the padding");
  const double neutral = node.op == OpId::MaxPool ? -std::numeric_limits<double>::infinity() : 0;
  if (!pads_with(graph, *pad, neutral)) return Attempt::no("it is padded with another number");
  const auto pads = pads_of(graph, *pad);
  const auto params = pads ? with_pads(node, *pads) : std::nullopt;
  if (!params) return Attempt::no("its window cannot have this padding");
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = pad->inputs[0];
  auto patch = std::make_unique<Patch>(graph, root, kFusePad);
  patch->set_reason("its window pads as well");
  patch->redefine(node.outputs[0], patch->op(node.op, std::move(inputs), *params));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_pad() { return {kFusePad, {OpId::Conv, OpId::MaxPool, OpId::AveragePool}, match_padded}; }

}  // namespace tenon
