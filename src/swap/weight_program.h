#pragma once

#include <memory>
#include <span>
#include <vector>

#include "executor/executor.h"
#include "plan/plan.h"
#include "plan/plan_bytes.h"

namespace tenon {

// What this runtime says of a kernel family, for reading and making programs.
std::optional<FamilyFacts> family_facts(std::string_view family);

// Computes the slots of a program from its sources. Immutable and so thread-safe.
class WeightProgram {
 public:
  static Result<std::unique_ptr<const WeightProgram>> make(std::shared_ptr<const Program> program);

  const Program& program() const { return *program_; }
  size_t slot_count() const { return program_->weight_program.size(); }
  // True for a slot that is its source, byte for byte.
  bool is_source(size_t slot) const { return !program_->weight_program[slot].expression; }
  // What a slot holds.
  DType dtype(size_t slot) const;
  std::vector<int64_t> dims(size_t slot) const;
  int64_t bytes(size_t slot) const;  // 0 for strings

  // Sources of a slot's entry, by position, whose NaN and infinities computing the slot finds anyway.
  std::vector<bool> watched_sources(size_t slot) const;
  // Computes a slot into `result`, which has its dtype and dims. `sources` are those of its entry, in order. Not for
  // slots that are their source. Sets *not_finite when a watched source has NaN or infinity. Results in between lie in
  // memory of `arenas`, which callers that compute one slot after the other keep.
  Status compute(size_t slot, const std::vector<Value>& sources, const TensorView& result, ArenaPool& arenas,
                 ThreadPool* pool, std::atomic<bool>* not_finite = nullptr) const;

 private:
  explicit WeightProgram(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  const Type& result_type(size_t slot) const;
  bool ends_in_watching_step(size_t slot) const;

  std::shared_ptr<const Program> program_;
  std::vector<std::unique_ptr<PreparedPlan>> prepared_;  // by slot; null for sources
};

}  // namespace tenon
