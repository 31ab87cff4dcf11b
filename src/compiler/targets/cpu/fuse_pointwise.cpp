// An expression takes in the expressions of its operands, so that what lies between them never goes through memory.
#include <algorithm>

#include "compiler/targets/cpu/claim.h"
#include "ops/pointwise.h"

namespace tenon {

namespace {

// Longer expressions run as fast in two parts, and take longer to look at.
constexpr size_t kMostInstructions = 48, kMostInputs = 16;

// All results of the two have one shape, so that nothing is computed more than once.
bool have_one_shape(const Graph& graph, const GraphNode& a, const GraphNode& b) {
  const auto shape_of = [&](const GraphNode& node) -> const std::optional<Shape>& {
    return graph.value(*std::ranges::find_if(node.outputs, [](ValueId v) { return v != kNone; })).type.shape;
  };
  return shape_of(a) && shape_of(b) && *shape_of(a) == *shape_of(b);
}

// Whether anything but `reader` reads the value.
bool is_read_elsewhere(const Graph& graph, ValueId v, NodeId reader) {
  return std::ranges::any_of(graph.value(v).uses, [&](const Use& use) {
    return use.kind != Use::Kind::Slot && !(use.kind == Use::Kind::Input && use.node == reader);
  });
}

// Two expressions, one after the other, as one.
class Joined {
 public:
  Joined(const GraphNode& first, const GraphNode& second) {
    for (const GraphNode* node : {&first, &second})
      for (const ValueId v : node->inputs)
        if (!std::ranges::count(first.outputs, v) && !std::ranges::count(inputs_, v)) inputs_.push_back(v);
    append(first);
    append(second);
  }

  const std::vector<ValueId>& inputs() const { return inputs_; }
  const PointwiseParams& params() const { return params_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  // Makes a result one of the joined expression's.
  void keep(ValueId v, DType dtype) {
    outputs_.push_back(v);
    params_.results.push_back(static_cast<int64_t>(std::ranges::find(results_, v, &Result::value)->instruction));
    params_.dtypes.push_back(static_cast<int64_t>(dtype));
  }

 private:
  struct Result {
    ValueId value;
    size_t instruction;
  };

  void append(const GraphNode& node) {
    const auto& from = node.params.get<PointwiseParams>();
    const size_t before = params_.size();
    for (size_t i = 0; i < from.size(); ++i) {
      PointwiseInstruction instruction = from.at(i);
      for (int64_t& operand : instruction.operands)
        if (operand >= 0) operand = place_of(node, static_cast<size_t>(operand), before);
      params_.add(instruction);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i)
      results_.push_back({node.outputs[i], before + static_cast<size_t>(from.results[i])});
  }

  int64_t place_of(const GraphNode& node, size_t operand, size_t instructions_before) const {
    if (operand >= node.inputs.size())
      return static_cast<int64_t>(inputs_.size() + instructions_before + operand - node.inputs.size());
    const ValueId v = node.inputs[operand];
    if (const auto it = std::ranges::find(results_, v, &Result::value); it != results_.end())
      return static_cast<int64_t>(inputs_.size() + it->instruction);
    return std::ranges::find(inputs_, v) - inputs_.begin();
  }

  std::vector<ValueId> inputs_, outputs_;
  PointwiseParams params_;
  std::vector<Result> results_;
};

Attempt join(Graph& graph, const GraphNode& producer, const GraphNode& root) {
  Joined joined(producer, root);
  if (joined.inputs().size() > kMostInputs || joined.params().size() > kMostInstructions)
    return Attempt::no("the expression would become too long");
  for (const ValueId v : producer.outputs)
    if (v != kNone && is_read_elsewhere(graph, v, root.id)) joined.keep(v, graph.value(v).type.dtype);
  for (const ValueId v : root.outputs)
    if (v != kNone) joined.keep(v, graph.value(v).type.dtype);
  auto patch = std::make_unique<Patch>(graph, root.id, "fuse_pointwise");
  patch->set_name(claimed_names(graph, {producer.id, root.id}));
  const auto made = patch->ops(OpId::Pointwise, joined.inputs(), Params::of(joined.params()), joined.outputs().size());
  for (size_t i = 0; i < made.size(); ++i) patch->redefine(joined.outputs()[i], made[i]);
  return Attempt::of(std::move(patch));
}

Attempt match_fusion(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  Attempt last = Attempt::none();
  for (const ValueId v : node.inputs) {
    const NodeId maker = graph.value(v).producer;
    if (maker == kNone || graph.node(maker).op != OpId::Pointwise) continue;
    if (!have_one_shape(graph, graph.node(maker), node)) continue;
    Attempt attempt = join(graph, graph.node(maker), node);
    if (attempt.patch && !attempt.patch->refusal()) return attempt;
    if (!attempt.patch) last = std::move(attempt);
  }
  return last;
}

}  // namespace

Rule fuse_pointwise() { return {"fuse_pointwise", {OpId::Pointwise}, match_fusion}; }

}  // namespace tenon
