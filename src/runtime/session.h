#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "executor/executor.h"
#include "swap/recompile.h"
#include "swap/swap.h"

namespace tenon {

struct SessionOptions {
  Limits limits;
  uint64_t seed = 0;
  std::shared_ptr<ThreadPool> pool;                   // helps with runs; null: each runs on its caller's thread alone
  int max_helpers = std::numeric_limits<int>::max();  // workers of the pool that help one run
  Isa isa = usable_isas().front();                    // the best that kernels may use
  bool keep_subnormals = false;                       // in fast kernels; those of the reference always do
  std::optional<Hash128> plan_key;                    // when it is known already
  Recompile recompile;                                // null where there is no compiler
};

struct RunOptions {
  const std::atomic<bool>* cancelled = nullptr;
  StopQuestion stop;
  std::vector<StepTime>* profile = nullptr;
};

// A program ready to run, with its weights. Any number of threads may run one session, also while its weights, and with
// them its plan, are replaced: a run uses what was there when it started.
class Session {
 public:
  ~Session();
  static Result<std::unique_ptr<Session>> make(std::shared_ptr<const Program> program,
                                               std::shared_ptr<const WeightSnapshot> weights, SessionOptions options);
  // From sources alone: computes the slots first.
  static Result<std::unique_ptr<Session>> make_from_sources(std::shared_ptr<const Program> program,
                                                            WeightSnapshot weights, SessionOptions options);

  // As it is now. Inputs and names of outputs stay when it is compiled again; types of outputs may change.
  std::shared_ptr<const Program> program() const { return current()->plan->program; }
  const PlanValue& input(size_t i) const { return inputs_[i].value; }
  const std::string& output_name(size_t i) const { return output_names_[i]; }
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return output_names_.size(); }
  // True when the input may be left out because the model gives it a value.
  bool input_has_default(size_t i) const { return inputs_[i].has_default; }

  // One value per input, in order; null takes the default. Checks kinds, dtypes and dims first. results: one per
  // output; those that go to a target stay empty. `inputs` may be pointed elsewhere.
  Status run(std::span<const Value*> inputs, std::span<const OutputTarget> targets, std::span<Value> results,
             const RunOptions& options) const;
  // The same; an empty value takes the default.
  Result<std::vector<Value>> run(const std::vector<Value>& inputs, std::span<const OutputTarget> targets,
                                 const RunOptions& options) const;
  const MemoryBudget& memory() const { return *budget_; }

  std::shared_ptr<const WeightSnapshot> weights() const { return current()->weights; }
  // Weights, and the key of the plan that they fit: equal for sessions that can use each other's.
  struct KeyedWeights {
    Hash128 plan_key;
    std::shared_ptr<const WeightSnapshot> weights;
  };
  KeyedWeights keyed_weights() const;
  // Replaces weights by name. After a refusal the old ones are still there.
  Result<SwapReport> set_weights(const std::shared_ptr<const WeightSource>& source, const SwapOptions& options);
  // The same for several sessions, which switch together; weights they share are computed once.
  static Result<std::vector<SwapReport>> set_weights_together(std::span<Session* const> sessions,
                                                              const SourceOfModel& source_of,
                                                              const SwapOptions& options);
  // Switches sessions together to weights that were computed for their plans before; moves no bytes.
  static Status use_weights_together(std::vector<std::pair<Session*, KeyedWeights>> weights);

 private:
  // A program, bound to this session's options. Immutable but for what binding keeps.
  struct PreparedProgram {
    std::shared_ptr<const Program> program;
    std::unique_ptr<const WeightProgram> weight_program;  // made when the first swap needs it, see swap_tools()
    std::unique_ptr<PreparedPlan> prepared;
    std::optional<Hash128> known_key;
    mutable std::once_flag key_made;
    mutable Hash128 key;
    Hash128 plan_key() const;
  };
  // What a run holds from its start to its end. Immutable.
  struct Current {
    std::shared_ptr<PreparedProgram> plan;
    std::shared_ptr<const WeightSnapshot> weights;
  };
  // What a session switches to, and what there is to tell.
  struct Next {
    std::shared_ptr<const Current> current;
    SwapReport report;
  };

  Session() = default;
  static Result<std::unique_ptr<Session>> prepare(std::shared_ptr<const Program> program, SessionOptions options);
  Result<std::shared_ptr<PreparedProgram>> prepare_program(std::shared_ptr<const Program> program,
                                                           std::optional<Hash128> key) const;
  std::shared_ptr<const Current> current() const;
  // The plan's own, for the time of a swap.
  Result<SwapTools> swap_tools(PreparedProgram& plan);
  Status check_weights(const KeyedWeights& weights) const;
  static Status check_together(std::span<Session* const> sessions,
                               const std::map<Session*, std::shared_ptr<const WeightSource>>& sources,
                               const SwapOptions& options);
  Result<Next> make_next(const std::shared_ptr<const WeightSource>& source, const SwapOptions& options,
                         SharedSlots* shared);
  // The same where the weights change the plan.
  Result<Next> make_next_plan(const std::shared_ptr<const WeightSource>& source, const SwapOptions& options,
                              SharedSlots* shared, PlannedSwap planned);
  ReplacedWeights replaced_weights(const std::shared_ptr<const WeightSource>& source, const SwapOptions& options,
                                   const PlannedSwap& planned) const;
  Status check_inputs(std::span<const Value* const> inputs) const;
  void describe(const Plan& plan);
  // Two inputs that give one symbol two extents, in words.
  std::optional<std::string> symbol_conflict(std::span<const Value* const> inputs) const;

  // Where inputs name an extent; only the first few names are looked at.
  static constexpr size_t kNamedSymbols = 32;
  struct SymbolAxis {
    size_t symbol, input, axis;
  };

  struct Input {
    PlanValue value;
    bool has_default = false;
  };

  std::vector<Input> inputs_;
  std::vector<std::string> output_names_;
  std::vector<SymbolAxis> symbol_axes_;
  std::unique_ptr<ArenaPool> arenas_;
  uint64_t forks_ = 0;
  // Held for the time of a pointer's copy.
  mutable std::mutex current_mutex_;
  std::shared_ptr<const Current> current_;
  // Held while new weights are computed, so that swaps follow each other.
  std::mutex swap_mutex_;
  std::set<std::string> passed_over_;  // names of earlier sets that the plan of then had no use for
  std::shared_ptr<SpareBuffers> spare_ = SpareBuffers::make();
  std::shared_ptr<MemoryBudget> budget_;
  SessionOptions options_;
  mutable std::atomic<uint64_t> runs_{0};
};

}  // namespace tenon
