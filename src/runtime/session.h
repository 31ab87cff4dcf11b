#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "executor/executor.h"
#include "swap/swap.h"

namespace tenon {

struct SessionOptions {
  Limits limits;
  uint64_t seed = 0;
  std::shared_ptr<ThreadPool> pool;                   // helps with runs; null: each runs on its caller's thread alone
  int max_helpers = std::numeric_limits<int>::max();  // workers of the pool that help one run
  Isa isa = usable_isas().front();                    // the best that kernels may use
  std::optional<Hash128> plan_key;                    // when it is known already
};

struct RunOptions {
  const std::atomic<bool>* cancelled = nullptr;
  StopQuestion stop;
  std::vector<StepTime>* profile = nullptr;
};

// A program ready to run, with its weights. Any number of threads may run one session, also while its weights are
// replaced: a run uses the weights that were there when it started.
class Session {
 public:
  ~Session();
  static Result<std::unique_ptr<Session>> make(std::shared_ptr<const Program> program,
                                               std::shared_ptr<const WeightSnapshot> weights, SessionOptions options);
  // From sources alone: computes the slots first.
  static Result<std::unique_ptr<Session>> make_from_sources(std::shared_ptr<const Program> program,
                                                            WeightSnapshot weights, SessionOptions options);

  const Program& program() const { return *program_; }
  const PlanValue& input(size_t i) const;
  const PlanValue& output(size_t i) const;
  const std::string& output_name(size_t i) const { return program_->plan.output_names[i]; }
  size_t input_count() const { return program_->plan.inputs.size(); }
  size_t output_count() const { return program_->plan.outputs.size(); }
  // True when the input may be left out because the model gives it a value.
  bool input_has_default(size_t i) const { return program_->plan.inputs[i].default_slot >= 0; }

  // One value per input, in order; null takes the default. Checks kinds, dtypes and dims first. results: one per
  // output; those that go to a target stay empty. `inputs` may be pointed elsewhere.
  Status run(std::span<const Value*> inputs, std::span<const OutputTarget> targets, std::span<Value> results,
             const RunOptions& options) const;
  // The same; an empty value takes the default.
  Result<std::vector<Value>> run(const std::vector<Value>& inputs, std::span<const OutputTarget> targets,
                                 const RunOptions& options) const;
  const MemoryBudget& memory() const { return *budget_; }

  // What weights must fit: equal for sessions that can use each other's weights.
  Hash128 plan_key() const;
  std::shared_ptr<const WeightSnapshot> weights() const;
  // Replaces weights by name. After a refusal the old ones are still there.
  Result<SwapReport> set_weights(const std::shared_ptr<const WeightSource>& source, const SwapOptions& options);
  // The same for several sessions, which switch together; weights they share are computed once.
  static Result<std::vector<SwapReport>> set_weights_together(std::span<Session* const> sessions,
                                                              const SourceOfModel& source_of,
                                                              const SwapOptions& options);
  // Switches sessions together to weights that were computed for their programs before; moves no bytes.
  static Status use_weights_together(std::vector<std::pair<Session*, std::shared_ptr<const WeightSnapshot>>> weights);

 private:
  Session() = default;
  static Result<std::unique_ptr<Session>> prepare(std::shared_ptr<const Program> program, SessionOptions options);
  Result<SwapTools> swap_tools();
  Status check_weights(const WeightSnapshot& weights) const;
  static Status check_together(std::span<Session* const> sessions,
                               const std::map<Session*, std::shared_ptr<const WeightSource>>& sources,
                               const SwapOptions& options);
  Status check_inputs(std::span<const Value* const> inputs) const;
  void find_symbols();
  // Two inputs that give one symbol two extents, in words.
  std::optional<std::string> symbol_conflict(std::span<const Value* const> inputs) const;

  // Where inputs name an extent; only the first few names are looked at.
  static constexpr size_t kNamedSymbols = 32;
  struct SymbolAxis {
    size_t symbol, input, axis;
  };

  std::shared_ptr<const Program> program_;
  std::vector<SymbolAxis> symbol_axes_;
  std::unique_ptr<ArenaPool> arenas_;
  std::unique_ptr<PreparedPlan> prepared_;
  uint64_t forks_ = 0;
  // Held for the time of a pointer's copy.
  mutable std::mutex weights_mutex_;
  std::shared_ptr<const WeightSnapshot> weights_;
  // Held while new weights are computed, so that swaps follow each other.
  std::mutex swap_mutex_;
  std::unique_ptr<const WeightProgram> weight_program_;
  std::shared_ptr<SpareBuffers> spare_ = SpareBuffers::make();
  std::shared_ptr<MemoryBudget> budget_;
  SessionOptions options_;
  mutable std::once_flag plan_key_made_;
  mutable Hash128 plan_key_;
  mutable std::atomic<uint64_t> runs_{0};
};

}  // namespace tenon
