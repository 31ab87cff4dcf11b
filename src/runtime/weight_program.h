#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "runtime/executor.h"

namespace tenon {

// Computes the slots of a program from the tensors of its sources. Immutable and so thread-safe.
class WeightProgram {
 public:
  static Result<std::unique_ptr<const WeightProgram>> make(std::shared_ptr<const Program> program);

  const Program& program() const { return *program_; }
  size_t slot_count() const { return program_->weight_program.size(); }
  // True for a slot that is its source, byte for byte.
  bool is_source(size_t slot) const { return !program_->weight_program[slot].expression; }
  // The slots that depend on some of the sources.
  std::vector<size_t> reached_from(const std::vector<bool>& sources) const;

  // One slot. `sources` has one tensor per source of the program; those the slot does not depend on may be undefined.
  // `memory` is where the result goes, when given; it must have the size of the result.
  Result<Tensor> compute(size_t slot, std::span<const Tensor> sources, const std::shared_ptr<MemoryBudget>& budget,
                         Tensor memory = {}) const;

 private:
  explicit WeightProgram(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  std::shared_ptr<const Program> program_;
  std::vector<std::unique_ptr<PreparedPlan>> prepared_;  // by slot; null for sources
};

// Every slot of a program.
Result<std::vector<Tensor>> compute_slots(const WeightProgram& weights, std::span<const Tensor> sources,
                                          const std::shared_ptr<MemoryBudget>& budget);

}  // namespace tenon
