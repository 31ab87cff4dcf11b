#include "compiler/lower.h"

#include "compiler/slot_table.h"
#include "ops/unsupported.h"

namespace tenon {

namespace {

class Lowering {
 public:
  Lowering(const Graph& graph, SlotTable& slots, const LoweringRules& rules)
      : graph_(graph), slots_(slots), rules_(rules), side_(graph, rules.moves_weights),
        ids_(graph.values.size(), kNoValue) {}

  Result<Plan> lower() {
    for (const GraphInput& input : graph_.inputs) {
      const int32_t slot = input.default_constant == kNone ? -1 : slots_.slot_of(input.default_constant);
      plan_.inputs.push_back({add(input.value), slot});
    }
    for (const GraphCapture& c : graph_.captures) plan_.captures.push_back({c.outer, add(c.inner)});
    const std::vector<bool> needed = needed_nodes();
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      if (needed[n]) TN_RETURN_IF_ERROR(lower_node(graph_.nodes[n]));
    for (ValueId v : graph_.outputs) {
      TN_ASSIGN_OR_RETURN(const PlanValueId id, use(v));
      plan_.outputs.push_back(id);
    }
    plan_.output_names = graph_.output_names;
    return std::move(plan_);
  }

  // The plan's value for one of the graph; a slot when it is on the weight side.
  Result<PlanValueId> use(ValueId v) {
    if (v == kNone) return kNoValue;
    if (const PlanValueId known = ids_[static_cast<size_t>(v)]; known != kNoValue) return known;
    if (!side_.becomes_slot(v)) return add(v);
    TN_ASSIGN_OR_RETURN(const int32_t slot, slots_.slot_of(graph_, side_, v));
    const PlanValueId id = add(v);
    plan_.values.back().storage = Storage::Slot;
    plan_.values.back().slot = slot;
    return id;
  }

 private:
  // Nodes that some output depends on and that slots do not stand for.
  std::vector<bool> needed_nodes() const {
    std::vector<bool> needed(graph_.nodes.size(), false), wanted(graph_.values.size(), false);
    const auto want = [&](ValueId v) {
      if (v != kNone && !side_.becomes_slot(v)) wanted[static_cast<size_t>(v)] = true;
    };
    for (ValueId v : graph_.outputs) want(v);
    for (size_t n = graph_.nodes.size(); n-- > 0;) {
      const GraphNode& node = graph_.nodes[n];
      for (ValueId v : node.outputs) needed[n] = needed[n] || (v != kNone && wanted[static_cast<size_t>(v)]);
      if (!needed[n]) continue;
      for (ValueId v : node.inputs) want(v);
      for (const auto& body : node.bodies)
        for (const GraphCapture& c : body->captures) want(c.outer);
    }
    return needed;
  }

  PlanValueId add(ValueId v) {
    const GraphValue& value = graph_.value(v);
    const bool boxed = !value.type.is_tensor() || value.type.dtype == DType::String;
    plan_.values.push_back({value.name, value.type, boxed ? Storage::Boxed : Storage::Arena, -1});
    return ids_[static_cast<size_t>(v)] = static_cast<PlanValueId>(plan_.values.size() - 1);
  }

  Status lower_node(const GraphNode& node) {
    const OpDef& def = op_def(node.op);
    if (node.op == OpId::Unsupported) {
      const auto& p = node.params.get<UnsupportedParams>();
      return unsupported("op '{}' of domain '{}' (version {}) is not known", p.op_type,
                         p.domain.empty() ? "ai.onnx" : p.domain, p.version)
          .in("node '" + node.name + "'");
    }
    Step step;
    step.family = def.has_bodies ? "control/" + std::string(def.name) : rules_.family(node.op);
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
    for (Capture& c : lowered.captures) {
      TN_ASSIGN_OR_RETURN(c.outer, use(c.outer));
    }
    step.bodies.push_back(std::make_shared<const Plan>(std::move(lowered)));
    return {};
  }

  const Graph& graph_;
  SlotTable& slots_;
  const LoweringRules& rules_;
  WeightSide side_;
  Plan plan_;
  std::vector<PlanValueId> ids_;
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
