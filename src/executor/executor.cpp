#include "executor/executor.h"

#include "base/float_environment.h"
#include "executor/plan_run.h"

namespace tenon {

Status run_plan(const PreparedPlan& plan, RunState& state, ArenaPool& arenas, std::span<const Value* const> inputs,
                std::span<const OutputTarget> targets, std::span<Value> results) {
  const DefaultFloatEnvironment environment;
  std::unique_ptr<PlanRun> run = plan.take_run([&](const PlanRun& other) { return other.fits(inputs, nullptr); });
  if (!run) run = std::make_unique<PlanRun>(plan);
  Status status;
  {
    RunArena arena(arenas, run->arena_bytes());
    state.arena = &arena;
    status = run->run(state, inputs, nullptr, targets, results, true);
    state.arena = nullptr;
    run->set_arena_bytes(arena.most());
  }
  plan.give_back(std::move(run));
  return status;
}

}  // namespace tenon
