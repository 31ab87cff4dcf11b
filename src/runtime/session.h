#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/executor.h"

namespace tenon {

struct SessionOptions {
  Limits limits;
  uint64_t seed = 0;
};

struct RunOptions {
  const std::atomic<bool>* cancelled = nullptr;
  StopQuestion stop;
  std::vector<StepTime>* profile = nullptr;
};

// A program ready to run, with its weights. Any number of threads may run one session.
class Session {
 public:
  static Result<std::unique_ptr<Session>> make(std::shared_ptr<const Program> program, std::vector<Tensor> slots,
                                               SessionOptions options);

  const Program& program() const { return *program_; }
  const PlanValue& input(size_t i) const;
  const PlanValue& output(size_t i) const;
  const std::string& output_name(size_t i) const { return program_->plan.output_names[i]; }
  size_t input_count() const { return program_->plan.inputs.size(); }
  size_t output_count() const { return program_->plan.outputs.size(); }
  // True when the input may be left out because the model gives it a value.
  bool input_has_default(size_t i) const { return program_->plan.inputs[i].default_slot >= 0; }

  // One value per input, in order; an empty one takes the default. Checks kinds, dtypes and dims first.
  Result<std::vector<Value>> run(std::vector<Value> inputs, std::span<const OutputTarget> targets,
                                 const RunOptions& options) const;
  const MemoryBudget& memory() const { return *budget_; }

 private:
  Session() = default;
  Status check_inputs(const std::vector<Value>& inputs) const;
  void find_symbols();
  // Two inputs that give one symbol two extents, in words.
  std::optional<std::string> symbol_conflict(const std::vector<Value>& inputs) const;

  // Where inputs name an extent; only the first few names are looked at.
  static constexpr size_t kNamedSymbols = 32;
  struct SymbolAxis {
    size_t symbol, input, axis;
  };

  std::shared_ptr<const Program> program_;
  std::vector<SymbolAxis> symbol_axes_;
  std::unique_ptr<PreparedPlan> prepared_;
  std::shared_ptr<const WeightSnapshot> weights_;
  std::shared_ptr<MemoryBudget> budget_;
  SessionOptions options_;
  mutable std::atomic<uint64_t> runs_{0};
};

}  // namespace tenon
