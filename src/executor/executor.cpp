#include "executor/executor.h"

#include "base/float_environment.h"
#include "executor/plan_run.h"

namespace tenon {

namespace {

// Whether a run that a limit ended might fit with an arena of its own size: what fits shall not depend on the runs
// before it.
bool may_fit_alone(const Status& status, const RunState& state, const RunArena& arena) {
  return status.code() == Code::ResourceLimit && !state.loops_refused && arena.has_spare();
}

}  // namespace

Status run_plan(const PreparedPlan& plan, RunState& state, ArenaPool& arenas, std::span<const Value* const> inputs,
                std::span<const OutputTarget> targets, std::span<Value> results) {
  const DefaultFloatEnvironment environment;
  std::unique_ptr<PlanRun> run = plan.take_run([&](const PlanRun& other) { return other.fits(inputs, nullptr); });
  if (!run) run = std::make_unique<PlanRun>(plan);
  Status status;
  bool again = false;
  do {
    RunArena arena(arenas, run->arena_bytes());
    state.arena = &arena;
    state.iterations = 0;
    state.random_draws = 0;
    status = run->run(state, inputs, nullptr, targets, results, true);
    state.arena = nullptr;
    run->set_arena_bytes(arena.most());
    again = !again && may_fit_alone(status, state, arena);
    if (again) arena.forget();
  } while (again);
  plan.give_back(std::move(run));
  return status;
}

}  // namespace tenon
