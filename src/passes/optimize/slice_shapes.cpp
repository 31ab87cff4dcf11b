// Some extents of a shape, where a Shape can name them itself, and shapes that inputs have as well.
#include <algorithm>
#include <span>

#include "ir/readers.h"
#include "ops/shape_of.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/slice_ranges.h"

namespace tenon {

namespace {

constexpr std::string_view kSliceShapes = "slice_shapes", kJoinShapes = "join_shapes",
                           kShapesOfInputs = "shapes_of_inputs";

// The axes of x whose extents a Shape gives.
struct Extents {
  ValueId x = kNone;
  int64_t begin = 0, end = 0;
};

std::optional<Extents> extents_of(const Graph& graph, ValueId v) {
  const GraphNode* shape = maker(graph, v, OpId::Shape);
  const auto rank = shape ? rank_of(graph, shape->inputs[0]) : std::nullopt;
  if (!rank) return std::nullopt;
  const auto [begin, end] = shape->params.get<ShapeParams>().range(*rank);
  return Extents{shape->inputs[0], begin, end};
}

ValueId shape_node(Patch& patch, const Extents& e) {
  return patch.op(OpId::Shape, {e.x}, Params::of(ShapeParams{e.begin, e.end}));
}

Attempt match_part(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  if (!maker(graph, node.inputs[0], OpId::Shape)) return Attempt::none();
  const auto all = extents_of(graph, node.inputs[0]);
  const auto taken = all ? stretch_of(graph, node, kSliceShapes) : std::nullopt;
  if (!taken) return Attempt::no("which extents it takes is not known, or they are not next to each other");
  auto patch = std::make_unique<Patch>(graph, root, kSliceShapes);
  patch->set_reason("a Shape can be of some axes alone");
  patch->redefine(node.outputs[0], shape_node(*patch, {all->x, all->begin + taken->start, all->begin + taken->end}));
  return Attempt::of(std::move(patch));
}

// The axes of v that have these extents, next to each other.
std::optional<Extents> find_extents(const Graph& graph, ValueId v, std::span<const Dim> dims) {
  const auto& shape = graph.value(v).type.shape;
  if (!shape || graph.value(v).constant != kNone) return std::nullopt;
  const auto found = std::ranges::search(*shape, dims);
  if (found.empty()) return std::nullopt;
  const int64_t begin = found.begin() - shape->begin();
  return Extents{v, begin, begin + static_cast<int64_t>(dims.size())};
}

// An input, or for a body what it takes from outside, that has extents of the same symbols.
std::optional<Extents> extents_of_input(const Graph& graph, std::span<const Dim> dims) {
  for (const GraphInput& input : graph.inputs)
    if (const auto found = find_extents(graph, input.value, dims)) return found;
  for (const GraphCapture& c : graph.captures)
    if (const auto found = find_extents(graph, c.inner, dims)) return found;
  return std::nullopt;
}

Attempt match_computed(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  if (graph.value(node.inputs[0]).producer == kNone) return Attempt::none();
  const auto own = extents_of(graph, node.outputs[0]);
  if (!own || own->begin == own->end) return Attempt::none();
  const Shape& shape = *graph.value(own->x).type.shape;
  const auto first = shape.begin() + own->begin, last = shape.begin() + own->end;
  const auto input = extents_of_input(graph, {first, last});
  if (!input) return Attempt::none();
  auto patch = std::make_unique<Patch>(graph, root, kShapesOfInputs);
  patch->set_reason("an input has the same extents");
  patch->redefine(node.outputs[0], shape_node(*patch, *input));
  return Attempt::of(std::move(patch));
}

// Shapes of neighbouring axes of one value, one after the other.
Attempt match_joined(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  struct Part {
    ValueId value;
    std::optional<Extents> extents;
    bool is_new = false;
  };
  std::vector<Part> parts;
  for (ValueId v : node.inputs) {
    Part part{v, only_reader(graph, v) == root ? extents_of(graph, v) : std::nullopt};
    Part* before = parts.empty() || !parts.back().extents ? nullptr : &parts.back();
    if (before && part.extents && before->extents->x == part.extents->x &&
        before->extents->end == part.extents->begin) {
      before->extents->end = part.extents->end;
      before->is_new = true;
    } else {
      parts.push_back(part);
    }
  }
  if (parts.size() == node.inputs.size()) return Attempt::none();
  auto patch = std::make_unique<Patch>(graph, root, kJoinShapes);
  patch->set_reason("one Shape names neighbouring extents");
  std::vector<ValueId> joined;
  for (const Part& part : parts) joined.push_back(part.is_new ? shape_node(*patch, *part.extents) : part.value);
  patch->redefine(node.outputs[0],
                  joined.size() == 1 ? joined[0] : patch->op(OpId::Concat, std::move(joined), node.params));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule slice_shapes() { return {kSliceShapes, {OpId::Gather, OpId::Slice}, match_part}; }
Rule shapes_of_inputs() { return {kShapesOfInputs, {OpId::Shape}, match_computed}; }
Rule join_shapes() { return {kJoinShapes, {OpId::Concat}, match_joined}; }

}  // namespace tenon
