#include "compiler/slot_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "evaluate/expression.h"
#include "plan/plan_check.h"
#include "plan/tensor_bytes.h"
#include "swap/weight_program.h"

namespace tenon {

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

int32_t SlotTable::slot_of(const Graph& graph, ValueId v) {
  if (const ConstantId id = graph.value(v).constant; id != kNone) return slot_of(id);
  if (const auto it = made_slots_.find({&graph, v}); it != made_slots_.end()) return it->second;
  return made_slots_[{&graph, v}] = add(entry_of(graph, v));
}

WeightEntry SlotTable::entry_of(const Graph& graph, ValueId v) {
  ConstantExpression expression = expression_of(graph, v, rules_.exact_family);
  WeightEntry entry;
  for (ConstantId id : expression.constants) entry.sources.push_back(source_of(id));
  entry.expression = std::move(expression.plan);
  entry.layout = std::move(expression.layout);
  return entry;
}

namespace {

// What the plan depends on. A literal is part of it: plans that differ in one must not pass for the same.
Status add_guards(const Constant& constant, int32_t number, std::vector<Guard>& guards) {
  const auto hash_of_elements = [&]() -> Result<std::string> {
    TN_ASSIGN_OR_RETURN(const Tensor tensor, constant.value());
    return content_hash(tensor).hex();
  };
  if (constant.is_literal()) {
    TN_ASSIGN_OR_RETURN(std::string hash, hash_of_elements());
    guards.push_back({number, constant.attribute, property_text({Property::Kind::Literal}), std::move(hash)});
    return {};
  }
  std::vector<Guard> asked;
  for (const Asked& question : constant.asked) {
    std::string answer = answer_text(question.answer);
    if (question.answer == Answer::Unknown) {
      auto hash = hash_of_elements();
      if (!hash.ok())
        return std::move(hash).status().in(
            fmt::format("weight '{}', which {} depends on", constant.source, question.asker));
      answer = std::move(*hash);
    }
    asked.push_back({number, question.asker, property_text(question.property), std::move(answer)});
  }
  // Who asked first depends on the order of rules.
  std::ranges::sort(asked, {}, [](const Guard& g) { return std::tie(g.property, g.asker); });
  guards.insert(guards.end(), asked.begin(), asked.end());
  return {};
}

}  // namespace

Status SlotTable::finish(LoweredModel& model) {
  // What decided about the plan belongs to it, even if no step reads it.
  for (size_t i = 0; i < pool_.size(); ++i)
    if (!pool_[ConstantId(i)].asked.empty()) source_of(ConstantId(i));
  for (ConstantId id : sources_) {
    const Constant& constant = pool_[id];
    const auto number = static_cast<int32_t>(model.program->sources.size());
    model.program->sources.push_back({constant.source, constant.dtype, constant.dims, !constant.from_node});
    model.sources.push_back(constant);
    TN_RETURN_IF_ERROR(add_guards(constant, number, model.program->guards));
  }
  model.program->weight_program = std::move(entries_);
  return check_exactness(*model.program, family_facts);
}

}  // namespace tenon
