#include "runtime/weight_program.h"

#include <algorithm>

namespace tenon {

Result<std::unique_ptr<const WeightProgram>> WeightProgram::make(std::shared_ptr<const Program> program) {
  std::unique_ptr<WeightProgram> made(new WeightProgram(std::move(program)));
  for (const WeightEntry& entry : made->program_->weight_program) {
    std::unique_ptr<PreparedPlan> prepared;
    if (entry.expression) {
      // Sources have one shape, so there is one binding.
      TN_ASSIGN_OR_RETURN(prepared, PreparedPlan::make(*entry.expression, 1));
    }
    made->prepared_.push_back(std::move(prepared));
  }
  return std::unique_ptr<const WeightProgram>(std::move(made));
}

std::vector<size_t> WeightProgram::reached_from(const std::vector<bool>& sources) const {
  std::vector<size_t> slots;
  for (size_t slot = 0; slot < slot_count(); ++slot)
    if (std::ranges::any_of(program_->weight_program[slot].sources,
                            [&](int32_t source) { return sources[static_cast<size_t>(source)]; }))
      slots.push_back(slot);
  return slots;
}

Result<Tensor> WeightProgram::compute(size_t slot, std::span<const Tensor> sources,
                                      const std::shared_ptr<MemoryBudget>& budget, Tensor memory) const {
  const WeightEntry& entry = program_->weight_program[slot];
  std::vector<Value> inputs;
  for (int32_t source : entry.sources) {
    const Tensor& tensor = sources[static_cast<size_t>(source)];
    if (!tensor.defined())
      return error(Code::NotFound, "the weight '{}' is needed and not there",
                   program_->sources[static_cast<size_t>(source)].name);
    inputs.emplace_back(tensor);
  }
  if (is_source(slot)) return *inputs[0].tensor();
  static const Limits limits;
  RunState state;
  state.weights = std::make_shared<WeightSnapshot>();
  state.budget = budget;
  state.limits = &limits;
  std::vector<OutputTarget> targets(1);
  if (memory.defined()) targets[0] = memory.view();
  TN_ASSIGN_OR_RETURN(auto results, run_plan(*prepared_[slot], state, std::move(inputs), {}, targets));
  return memory.defined() ? std::move(memory) : std::move(*results[0].tensor());
}

Result<std::vector<Tensor>> compute_slots(const WeightProgram& weights, std::span<const Tensor> sources,
                                          const std::shared_ptr<MemoryBudget>& budget) {
  std::vector<Tensor> slots;
  for (size_t slot = 0; slot < weights.slot_count(); ++slot) {
    TN_ASSIGN_OR_RETURN(Tensor tensor, weights.compute(slot, sources, budget));
    slots.push_back(std::move(tensor));
  }
  return slots;
}

}  // namespace tenon
