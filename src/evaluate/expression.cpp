#include "evaluate/expression.h"

#include <unordered_map>
#include <unordered_set>

#include "ops/packed.h"
#include "providers/provider.h"

namespace tenon {

// Operands first, each in the order of the inputs: so it depends on the expression alone, and nodes need not be in
// place.
std::vector<NodeId> nodes_behind(const Graph& graph, ValueId v) {
  struct Visit {
    NodeId node;
    size_t next_input = 0;
  };
  std::vector<NodeId> found;
  std::unordered_set<NodeId> seen;
  std::vector<Visit> open;
  const auto enter = [&](ValueId value) {
    const NodeId producer = value == kNone ? NodeId(kNone) : graph.value(value).producer;
    if (producer != kNone && seen.insert(producer).second) open.push_back({producer});
  };
  enter(v);
  while (!open.empty()) {
    const auto& inputs = graph.node(open.back().node).inputs;
    if (open.back().next_input < inputs.size()) {
      enter(inputs[open.back().next_input++]);
    } else {
      found.push_back(open.back().node);
      open.pop_back();
    }
  }
  return found;
}

namespace {

class ExpressionMaker {
 public:
  ExpressionMaker(const Graph& graph, const FamilyOfOp& family) : graph_(graph), family_(family) {}

  ConstantExpression make(ValueId v) {
    for (NodeId id : nodes_behind(graph_, v)) add_step(graph_.node(id));
    plan_->outputs = {ids_.at(v)};
    plan_->output_names = {""};
    made_.plan = plan_;
    return std::move(made_);
  }

 private:
  PlanValueId add(ValueId v) {
    plan_->values.push_back({graph_.value(v).name, graph_.value(v).type, Storage::Arena, -1});
    return ids_[v] = static_cast<PlanValueId>(plan_->values.size() - 1);
  }

  PlanValueId use(ValueId v) {
    if (v == kNone) return kNoValue;
    if (const auto it = ids_.find(v); it != ids_.end()) return it->second;
    made_.constants.push_back(graph_.value(v).constant);
    plan_->inputs.push_back({add(v), -1});
    return plan_->inputs.back().value;
  }

  void add_step(const GraphNode& node) {
    Step step;
    step.family = family_(node.op);
    step.family_version = version_of_family(step.family);
    step.op = node.op;
    step.params = node.params;
    step.origin = node.name;
    for (ValueId input : node.inputs) step.inputs.push_back(use(input));
    for (ValueId output : node.outputs) step.outputs.push_back(output == kNone ? kNoValue : add(output));
    if (node.op == OpId::PackPanels) made_.layout = choice_name(node.params.get<PackPanelsParams>().layout);
    plan_->steps.push_back(std::move(step));
  }

  const Graph& graph_;
  const FamilyOfOp& family_;
  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
  std::unordered_map<ValueId, PlanValueId> ids_;
  ConstantExpression made_;
};

}  // namespace

ConstantExpression expression_of(const Graph& graph, ValueId v, const FamilyOfOp& family) {
  return ExpressionMaker(graph, family).make(v);
}

}  // namespace tenon
