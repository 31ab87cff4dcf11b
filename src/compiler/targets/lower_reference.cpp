#include <unordered_map>

#include "compiler/compile.h"
#include "ops/unsupported.h"

namespace tenon {

namespace {

// Slots are shared by a plan and its bodies.
class SlotTable {
 public:
  explicit SlotTable(const ConstantPool& pool) : pool_(pool) {}

  int32_t slot_of(ConstantId id) {
    auto [it, is_new] = slots_.emplace(id, static_cast<int32_t>(order_.size()));
    if (is_new) order_.push_back(id);
    return it->second;
  }
  Status fill(CompiledModel& compiled, Program& program) const {
    for (size_t slot = 0; slot < order_.size(); ++slot) {
      const Constant& constant = pool_[static_cast<size_t>(order_[slot])];
      auto tensor = constant.value();
      if (!tensor.ok()) return std::move(tensor).status().in("weight '" + constant.source + "'");
      compiled.slots.push_back(std::move(*tensor));
      program.sources.push_back({constant.source, constant.dtype, constant.dims});
      program.weight_program.push_back({static_cast<int32_t>(slot), {static_cast<int32_t>(slot)}, nullptr});
    }
    return {};
  }

 private:
  const ConstantPool& pool_;
  std::unordered_map<ConstantId, int32_t> slots_;
  std::vector<ConstantId> order_;
};

class Lowering {
 public:
  explicit Lowering(SlotTable& slots) : slots_(slots) {}

  Result<Plan> lower(const Graph& graph) {
    Plan plan;
    ids_.assign(graph.values.size(), kNoValue);
    for (const GraphInput& input : graph.inputs)
      plan.inputs.push_back({add(plan, graph, input.value),
                             input.default_constant == kNone ? -1 : slots_.slot_of(input.default_constant)});
    for (const GraphCapture& c : graph.captures) plan.captures.push_back({c.outer, add(plan, graph, c.inner)});
    const std::vector<bool> needed = needed_nodes(graph);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      if (!needed[n]) continue;
      TN_RETURN_IF_ERROR(lower_node(plan, graph, graph.nodes[n]));
    }
    for (ValueId v : graph.outputs) plan.outputs.push_back(use(plan, graph, v));
    plan.output_names = graph.output_names;
    return plan;
  }

 private:
  // Nodes that some output depends on.
  static std::vector<bool> needed_nodes(const Graph& graph) {
    std::vector<bool> needed(graph.nodes.size(), false), wanted(graph.values.size(), false);
    for (ValueId v : graph.outputs) wanted[static_cast<size_t>(v)] = true;
    for (size_t n = graph.nodes.size(); n-- > 0;) {
      const GraphNode& node = graph.nodes[n];
      for (ValueId v : node.outputs) needed[n] = needed[n] || (v != kNone && wanted[static_cast<size_t>(v)]);
      if (!needed[n]) continue;
      for (ValueId v : node.inputs)
        if (v != kNone) wanted[static_cast<size_t>(v)] = true;
      for (const auto& body : node.bodies)
        for (const GraphCapture& c : body->captures) wanted[static_cast<size_t>(c.outer)] = true;
    }
    return needed;
  }

  PlanValueId add(Plan& plan, const Graph& graph, ValueId v) {
    const GraphValue& value = graph.value(v);
    PlanValue planned{value.name, value.type, Storage::Arena, -1};
    if (value.constant != kNone) {
      planned.storage = Storage::Slot;
      planned.slot = slots_.slot_of(value.constant);
    } else if (!value.type.is_tensor() || value.type.dtype == DType::String) {
      planned.storage = Storage::Boxed;
    }
    plan.values.push_back(std::move(planned));
    return ids_[static_cast<size_t>(v)] = static_cast<PlanValueId>(plan.values.size() - 1);
  }

  PlanValueId use(Plan& plan, const Graph& graph, ValueId v) {
    if (v == kNone) return kNoValue;
    const PlanValueId known = ids_[static_cast<size_t>(v)];
    return known != kNoValue ? known : add(plan, graph, v);
  }

  Status lower_node(Plan& plan, const Graph& graph, const GraphNode& node) {
    const OpDef& def = op_def(node.op);
    if (node.op == OpId::Unsupported) {
      const auto& p = node.params.get<UnsupportedParams>();
      return unsupported("op '{}' of domain '{}' (version {}) is not known", p.op_type,
                         p.domain.empty() ? "ai.onnx" : p.domain, p.version)
          .in("node '" + node.name + "'");
    }
    Step step;
    step.family = (def.has_bodies ? "control/" : "reference/") + std::string(def.name);
    step.op = node.op;
    step.params = node.params;
    step.origin = node.name;
    for (ValueId v : node.inputs) step.inputs.push_back(use(plan, graph, v));
    for (const auto& body : node.bodies) {
      Lowering inner(slots_);
      TN_ASSIGN_OR_RETURN(Plan lowered, inner.lower(*body));
      for (Capture& c : lowered.captures) c.outer = use(plan, graph, c.outer);
      step.bodies.push_back(std::make_shared<const Plan>(std::move(lowered)));
    }
    for (ValueId v : node.outputs) step.outputs.push_back(v == kNone ? kNoValue : add(plan, graph, v));
    plan.steps.push_back(std::move(step));
    return {};
  }

  SlotTable& slots_;
  std::vector<PlanValueId> ids_;
};

}  // namespace

Result<CompiledModel> compile_reference(const Graph& graph) {
  SlotTable slots(*graph.constants);
  auto program = std::make_shared<Program>();
  TN_ASSIGN_OR_RETURN(program->plan, Lowering(slots).lower(graph));
  CompiledModel compiled;
  TN_RETURN_IF_ERROR(slots.fill(compiled, *program));
  compiled.program = std::move(program);
  return compiled;
}

}  // namespace tenon
