#pragma once

#include <map>
#include <unordered_map>

#include "compiler/lower.h"
#include "compiler/weight_side.h"

namespace tenon {

// The slots of a plan and its bodies, and the weight program that fills them.
class SlotTable {
 public:
  SlotTable(const ConstantPool& pool, const LoweringRules& rules) : pool_(pool), rules_(rules) {}

  int32_t slot_of(ConstantId id);
  // The slot of a value on the weight side of a graph.
  int32_t slot_of(const Graph& graph, ValueId v);
  // Moves the sources and the weight program into a lowered model.
  Status finish(LoweredModel& model);

 private:
  int32_t source_of(ConstantId id);
  int32_t add(WeightEntry entry);
  WeightEntry entry_of(const Graph& graph, ValueId v);

  const ConstantPool& pool_;
  const LoweringRules& rules_;
  std::unordered_map<ConstantId, int32_t> slots_;                   // of plain constants
  std::map<std::pair<const Graph*, ValueId>, int32_t> made_slots_;  // of values that nodes make
  std::unordered_map<ConstantId, int32_t> source_numbers_;
  std::vector<ConstantId> sources_;
  std::vector<WeightEntry> entries_;
};

}  // namespace tenon
