#include "compiler/slot_table.h"

#include <fmt/format.h>

#include "ops/packed.h"
#include "plan/tensor_bytes.h"

namespace tenon {

namespace {

std::string attribute_of(const Constant& literal) {
  const bool is_attribute = literal.asker.starts_with(kAttributeAsker);
  return is_attribute ? literal.asker.substr(kAttributeAsker.size()) : "";
}

}  // namespace

int32_t SlotTable::source_of(ConstantId id) {
  const auto [it, is_new] = source_numbers_.emplace(id, static_cast<int32_t>(sources_.size()));
  if (is_new) sources_.push_back(id);
  return it->second;
}

int32_t SlotTable::add(WeightEntry entry) {
  entry.slot = static_cast<int32_t>(entries_.size());
  entries_.push_back(std::move(entry));
  return entries_.back().slot;
}

int32_t SlotTable::slot_of(ConstantId id) {
  if (const auto it = slots_.find(id); it != slots_.end()) return it->second;
  WeightEntry entry;
  entry.sources = {source_of(id)};
  return slots_[id] = add(std::move(entry));
}

Result<int32_t> SlotTable::slot_of(const Graph& graph, const WeightSide& side, ValueId v) {
  if (const ConstantId id = graph.value(v).constant; id != kNone) return slot_of(id);
  if (const auto it = made_slots_.find({&graph, v}); it != made_slots_.end()) return it->second;
  TN_ASSIGN_OR_RETURN(WeightEntry entry, entry_of(graph, side.nodes_of(v), v));
  return made_slots_[{&graph, v}] = add(std::move(entry));
}

Result<WeightEntry> SlotTable::entry_of(const Graph& graph, const std::vector<NodeId>& nodes, ValueId v) {
  WeightEntry entry;
  auto plan = std::make_shared<Plan>();
  std::unordered_map<ValueId, PlanValueId> ids;
  const auto add_value = [&](ValueId value) {
    plan->values.push_back({graph.value(value).name, graph.value(value).type, Storage::Arena, -1});
    return ids[value] = static_cast<PlanValueId>(plan->values.size() - 1);
  };
  const auto use = [&](ValueId value) {
    if (value == kNone) return kNoValue;
    if (const auto it = ids.find(value); it != ids.end()) return it->second;
    entry.sources.push_back(source_of(graph.value(value).constant));
    plan->inputs.push_back({add_value(value), -1});
    return plan->inputs.back().value;
  };
  for (NodeId id : nodes) {
    const GraphNode& node = graph.node(id);
    Step step;
    step.family = rules_.family(node.op);
    step.op = node.op;
    step.params = node.params;
    step.origin = node.name;
    for (ValueId input : node.inputs) step.inputs.push_back(use(input));
    for (ValueId output : node.outputs) step.outputs.push_back(output == kNone ? kNoValue : add_value(output));
    if (node.op == OpId::PackPanels) entry.layout = node.params.get<PackPanelsParams>().layout;
    plan->steps.push_back(std::move(step));
  }
  plan->outputs = {ids.at(v)};
  plan->output_names = {""};
  entry.expression = std::move(plan);
  return entry;
}

Status SlotTable::finish(LoweredModel& model) {
  // What decided about the plan belongs to it, even if no step reads it.
  for (size_t i = 0; i < pool_.size(); ++i)
    if (!pool_[ConstantId(i)].asker.empty() && !pool_[ConstantId(i)].source.empty()) source_of(ConstantId(i));
  for (ConstantId id : sources_) {
    const Constant& constant = pool_[id];
    const auto number = static_cast<int32_t>(model.program->sources.size());
    model.program->sources.push_back({constant.source, constant.dtype, constant.dims, !constant.from_node});
    model.sources.push_back(constant);
    // A literal is part of the plan: plans that differ in one must not pass for the same.
    const bool is_literal = constant.source.empty();
    if (constant.asker.empty() && !is_literal) continue;
    auto tensor = constant.value();
    if (!tensor.ok())
      return std::move(tensor).status().in(
          fmt::format("weight '{}', which {} depends on", constant.source, constant.asker));
    model.program->guards.push_back({number, is_literal ? attribute_of(constant) : constant.asker,
                                     is_literal ? kLiteral : "elements", content_hash(*tensor).hex()});
  }
  model.program->weight_program = std::move(entries_);
  return {};
}

}  // namespace tenon
