// Gathers of known indices from what was gathered, sliced or joined before, and axes of 1 around a Gather.
#include "ir/readers.h"
#include "ops/concat.h"
#include "ops/gather.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/constants.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/slice_ranges.h"

namespace tenon {

namespace {

constexpr std::string_view kMergeGathers = "merge_gathers", kMergeGatherAxes = "merge_gather_axes";

using Indices = std::vector<int64_t>;

// Known indices into an axis.
struct Chosen {
  int64_t axis = 0;
  bool is_scalar = false;
  Indices indices;
};

std::optional<Chosen> chosen_by(Graph& graph, const GraphNode& gather, std::string_view asker) {
  const auto axis = axis_from_front(graph, gather.params.get<GatherParams>().axis, gather.inputs[0]);
  const auto rank = rank_of(graph, gather.inputs[1]);
  const auto indices = known_integers(graph, gather.inputs[1], asker);
  if (!axis || !rank || *rank > 1 || !indices) return std::nullopt;
  return Chosen{*axis, *rank == 0, *indices};
}

ValueId gathered(Patch& patch, ValueId x, const Chosen& chosen) {
  const ValueId indices =
      chosen.is_scalar ? patch.literal(Tensor::scalar(chosen.indices.front())) : patch.integers(chosen.indices);
  return patch.op(OpId::Gather, {x, indices}, Params::of(GatherParams{chosen.axis}));
}

// Counted from the front; nothing when one of them does not exist.
std::optional<Indices> indices_within(const Indices& indices, int64_t extent) {
  Indices found;
  for (int64_t index : indices) {
    found.push_back(index < 0 ? index + extent : index);
    if (found.back() < 0 || found.back() >= extent) return std::nullopt;
  }
  return found;
}

// What a choice from the result of a node is a choice from.
struct Source {
  ValueId x = kNone;
  Indices indices;
};

std::optional<Source> source_in_gather(Graph& graph, const GraphNode& inner, const Chosen& chosen) {
  const auto first = chosen_by(graph, inner, kMergeGathers);
  if (!first || first->is_scalar || first->axis != chosen.axis) return std::nullopt;
  const auto places = indices_within(chosen.indices, static_cast<int64_t>(first->indices.size()));
  if (!places) return std::nullopt;
  Source source{inner.inputs[0], {}};
  for (int64_t place : *places) source.indices.push_back(first->indices[static_cast<size_t>(place)]);
  return source;
}

std::optional<Source> source_in_slice(Graph& graph, const GraphNode& inner, const Chosen& chosen) {
  const auto bounds = bounds_of(graph, inner, kMergeGathers);
  const auto extent = extent_of(graph, inner.inputs[0], chosen.axis);
  if (!bounds || bounds->size() != 1 || bounds->begin()->first != chosen.axis || !extent) return std::nullopt;
  const SliceBounds& b = bounds->begin()->second;
  const SliceRange range = clamp_slice(*extent, b.start, b.end, b.step);
  const auto places = indices_within(chosen.indices, range.count);
  if (!places) return std::nullopt;
  Source source{inner.inputs[0], {}};
  for (int64_t place : *places) source.indices.push_back(range.start + place * range.step);
  return source;
}

// The one part of a Concat that all of it comes from.
std::optional<Source> source_in_concat(const Graph& graph, const GraphNode& inner, const Chosen& chosen) {
  const ValueId joined = inner.outputs[0];
  const auto extent = extent_of(graph, joined, chosen.axis);
  if (axis_from_front(graph, inner.params.get<ConcatParams>().axis, joined) != chosen.axis || !extent)
    return std::nullopt;
  const auto places = indices_within(chosen.indices, *extent);
  int64_t begin = 0;
  for (ValueId part : inner.inputs) {
    const auto count = extent_of(graph, part, chosen.axis);
    if (!count || !places) return std::nullopt;
    Source source{part, {}};
    for (int64_t place : *places)
      if (place >= begin && place < begin + *count) source.indices.push_back(place - begin);
    if (!places->empty() && source.indices.size() == places->size()) return source;
    begin += *count;
  }
  return std::nullopt;
}

Attempt match_gather(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const NodeId before = graph.value(node.inputs[0]).producer;
  if (before == kNone) return Attempt::none();
  const GraphNode& inner = graph.node(before);
  if (inner.op != OpId::Gather && inner.op != OpId::Slice && inner.op != OpId::Concat) return Attempt::none();
  const auto chosen = chosen_by(graph, node, kMergeGathers);
  if (!chosen) return Attempt::no("its indices are not known");
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  const auto source = inner.op == OpId::Gather  ? source_in_gather(graph, inner, *chosen)
                      : inner.op == OpId::Slice ? source_in_slice(graph, inner, *chosen)
                                                : source_in_concat(graph, inner, *chosen);
  if (!source) return Attempt::no("where its elements come from is not known");
  auto patch = std::make_unique<Patch>(graph, root, kMergeGathers);
  patch->set_reason("one Gather takes the same elements");
  patch->redefine(node.outputs[0], gathered(*patch, source->x, {chosen->axis, chosen->is_scalar, source->indices}));
  return Attempt::of(std::move(patch));
}

// The index that a Slice of extent 1 takes, where it is certain.
std::optional<Chosen> chosen_by_slice(Graph& graph, const GraphNode& slice) {
  const auto bounds = bounds_of(graph, slice, kMergeGatherAxes);
  if (!bounds || bounds->size() != 1 || extent_of(graph, slice.outputs[0], bounds->begin()->first) != 1)
    return std::nullopt;
  const auto& [axis, range] = *bounds->begin();
  if (range.start >= 0 || range.start == -1) return Chosen{axis, false, {range.start}};
  const auto extent = extent_of(graph, slice.inputs[0], axis);
  if (!extent) return std::nullopt;
  return Chosen{axis, false, {clamp_slice(*extent, range.start, range.end, range.step).start}};
}

// An Unsqueeze of what one index takes along its axis, or a Squeeze of that axis.
Attempt match_axis(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const bool adds = node.op == OpId::Unsqueeze;
  const NodeId before = graph.value(node.inputs[0]).producer;
  if (before == kNone || node.inputs.size() < 2) return Attempt::none();
  const GraphNode& inner = graph.node(before);
  if (inner.op != OpId::Gather && (adds || inner.op != OpId::Slice)) return Attempt::none();
  auto chosen = inner.op == OpId::Gather ? chosen_by(graph, inner, kMergeGatherAxes) : chosen_by_slice(graph, inner);
  const auto axes = known_integers(graph, node.inputs[1], kMergeGatherAxes);
  if (!chosen || !axes || axes->size() != 1 || chosen->indices.size() != 1 || chosen->is_scalar != adds)
    return Attempt::none();
  const ValueId wide = adds ? node.outputs[0] : node.inputs[0];
  if (axis_from_front(graph, axes->front(), wide) != chosen->axis) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  auto patch = std::make_unique<Patch>(graph, root, kMergeGatherAxes);
  patch->set_reason("a Gather keeps or drops the axis of its index itself");
  chosen->is_scalar = !adds;
  patch->redefine(node.outputs[0], gathered(*patch, inner.inputs[0], *chosen));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule merge_gathers() { return {kMergeGathers, {OpId::Gather}, match_gather}; }
Rule merge_gather_axes() { return {kMergeGatherAxes, {OpId::Unsqueeze, OpId::Squeeze}, match_axis}; }

}  // namespace tenon
