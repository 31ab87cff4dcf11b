#include "compiler/lower.h"

#include <algorithm>

#include "compiler/slot_table.h"
#include "ops/unsupported.h"
#include "providers/provider.h"

namespace tenon {

namespace {

class Lowering {
 public:
  Lowering(const Graph& graph, SlotTable& slots, const LoweringRules& rules)
      : graph_(graph), slots_(slots), rules_(rules), side_(graph, rules.moves_weights),
        ids_(graph.value_count(), kNoValue) {}

  Result<Plan> lower() {
    for (const GraphInput& input : graph_.inputs) {
      const int32_t slot = input.default_constant == kNone ? -1 : slots_.slot_of(input.default_constant);
      plan_.inputs.push_back({add(input.value), slot});
    }
    for (const GraphCapture& c : graph_.captures) plan_.captures.push_back({kNoValue, add(c.inner)});
    for (NodeId id : needed_nodes()) TN_RETURN_IF_ERROR(lower_node(graph_.node(id)));
    for (ValueId v : graph_.outputs()) {
      TN_ASSIGN_OR_RETURN(const PlanValueId id, use(v));
      plan_.outputs.push_back(id);
    }
    plan_.output_names = graph_.output_names();
    return std::move(plan_);
  }

  // The plan's value for one of the graph; a slot when it is on the weight side.
  Result<PlanValueId> use(ValueId v) {
    if (v == kNone) return kNoValue;
    if (const PlanValueId known = ids_[v]; known != kNoValue) return known;
    if (!side_.becomes_slot(v)) return add(v);
    const int32_t slot = slots_.slot_of(graph_, v);
    const PlanValueId id = add(v);
    plan_.values.back().storage = Storage::Slot;
    plan_.values.back().slot = slot;
    return id;
  }

 private:
  // Nodes that some output depends on and that slots do not stand for.
  std::vector<NodeId> needed_nodes() const {
    std::vector<NodeId> needed;
    Table<ValueId, bool> wanted(graph_.value_count(), false);
    const auto want = [&](ValueId v) {
      if (v != kNone && !side_.becomes_slot(v)) wanted[v] = true;
    };
    for (ValueId v : graph_.outputs()) want(v);
    for (NodeId id = graph_.last_node(); id != kNone; id = graph_.previous_node(id)) {
      const GraphNode& node = graph_.node(id);
      if (std::ranges::none_of(node.outputs, [&](ValueId v) { return v != kNone && wanted[v]; })) continue;
      needed.push_back(id);
      for (ValueId v : node.inputs) want(v);
      for (const auto& body : node.bodies)
        for (const GraphCapture& c : body->captures) want(c.outer);
    }
    std::ranges::reverse(needed);
    return needed;
  }

  PlanValueId add(ValueId v) {
    const GraphValue& value = graph_.value(v);
    const bool boxed = !value.type.is_tensor() || value.type.dtype == DType::String;
    plan_.values.push_back({value.name, value.type, boxed ? Storage::Boxed : Storage::Arena, -1});
    return ids_[v] = static_cast<PlanValueId>(plan_.values.size() - 1);
  }

  Status lower_node(const GraphNode& node) {
    const OpDef& def = op_def(node.op);
    if (node.op == OpId::Unsupported) {
      const auto& p = node.params.get<UnsupportedParams>();
      return unsupported("unknown op '{}' (domain '{}', version {})", p.op_type,
                         p.domain.empty() ? "ai.onnx" : p.domain, p.version)
          .in("node '" + node.name + "'");
    }
    Step step;
    step.family = def.has_bodies ? "control/" + std::string(def.name) : rules_.family(node.op);
    step.family_version = version_of_family(step.family);
    step.op = node.op;
    step.params = node.params;
    step.origin = node.name;
    for (ValueId v : node.inputs) {
      TN_ASSIGN_OR_RETURN(const PlanValueId id, use(v));
      step.inputs.push_back(id);
    }
    for (const auto& body : node.bodies) TN_RETURN_IF_ERROR(lower_body(*body, step));
    for (ValueId v : node.outputs) step.outputs.push_back(v == kNone ? kNoValue : add(v));
    plan_.steps.push_back(std::move(step));
    return {};
  }

  Status lower_body(const Graph& body, Step& step) {
    TN_ASSIGN_OR_RETURN(Plan lowered, Lowering(body, slots_, rules_).lower());
    for (size_t i = 0; i < body.captures.size(); ++i) {
      TN_ASSIGN_OR_RETURN(lowered.captures[i].outer, use(body.captures[i].outer));
    }
    step.bodies.push_back(std::make_shared<const Plan>(std::move(lowered)));
    return {};
  }

  const Graph& graph_;
  SlotTable& slots_;
  const LoweringRules& rules_;
  WeightSide side_;
  Plan plan_;
  Table<ValueId, PlanValueId> ids_;
};

}  // namespace

Result<LoweredModel> lower(const Graph& graph, const LoweringRules& rules) {
  SlotTable slots(*graph.constants, rules);
  LoweredModel model;
  model.program = std::make_shared<Program>();
  TN_ASSIGN_OR_RETURN(model.program->plan, Lowering(graph, slots, rules).lower());
  TN_RETURN_IF_ERROR(slots.finish(model));
  return model;
}

}  // namespace tenon
