#include "executor/services.h"

#include <algorithm>

#include "executor/dims_text.h"
#include "tensor/nesting.h"

namespace tenon {

const Step& RunServices::step() const { return run_.plan_.steps[run_.step_]; }

Result<TensorView> RunServices::allocate_output(size_t i, std::vector<int64_t> dims) {
  if (i >= step().outputs.size() || step().outputs[i] == kNoValue)
    return error(Code::Internal, "the kernel family '{}' produced output {}, which is not used", step().family, i);
  Cell& c = run_.cell(step().outputs[i]);
  if (c.view.data || c.value()) {
    if (!std::ranges::equal(c.view.dims, dims))
      return error(Code::Internal, "output {} has the shape {}, but its shape rule gives {}", i, dims_text(dims),
                   dims_text(c.view.dims));
    return c.view;
  }
  TN_ASSIGN_OR_RETURN(Tensor t, Tensor::allocate(c.view.dtype, std::move(dims), run_.state_->budget));
  run_.set_new_tensor(step().outputs[i], std::move(t));
  return c.view;
}

void RunServices::set_output(size_t i, Value value) {
  if (i >= step().outputs.size() || step().outputs[i] == kNoValue) return;
  Cell& c = run_.cell(step().outputs[i]);
  const Tensor* t = value.tensor();
  if (Status status = t ? Status() : check_nesting(value); !status.ok()) throw KernelStop{std::move(status)};
  // A place that binding chose keeps its memory; the elements move there.
  if (t && c.view.data && c.view.dtype == t->dtype() && std::ranges::equal(c.view.dims, t->dims()))
    copy_elements(t->view(), c.view);
  else
    run_.set_boxed(step().outputs[i], std::move(value));
}

Result<Value> RunServices::take_input(size_t i) {
  if (i >= step().inputs.size() || step().inputs[i] == kNoValue) return invalid_model("input {} is missing", i);
  return run_.lasting_copy(step().inputs[i]);
}

Result<std::vector<Value>> RunServices::run_body(size_t body, std::vector<Value> inputs) {
  RunState& state = *run_.state_;
  if (state.depth >= state.limits->max_body_depth)
    return error(Code::ResourceLimit, "sub-graphs are nested more than {} levels deep", state.limits->max_body_depth);
  ++state.depth;
  auto results = run_.run_body(body, inputs);
  --state.depth;
  return results;
}

size_t RunServices::body_input_count(size_t body) { return step().bodies[body]->inputs.size(); }

Type RunServices::body_output_type(size_t body, size_t output) {
  const Plan& plan = *step().bodies[body];
  const PlanValueId v = output < plan.outputs.size() ? plan.outputs[output] : kNoValue;
  return v == kNoValue ? Type{} : plan.values[static_cast<size_t>(v)].type;
}

Status RunServices::check_cancelled() {
  RunState& state = *run_.state_;
  // The caller is not asked again once the answer was to stop.
  if (!state.stopped.load(std::memory_order_relaxed) && std::this_thread::get_id() == caller_) {
    if (state.must_stop()) state.stopped.store(true, std::memory_order_relaxed);
  } else if (state.cancelled && state.cancelled->load(std::memory_order_relaxed)) {
    state.stopped.store(true, std::memory_order_relaxed);
  }
  return state.stopped.load(std::memory_order_relaxed) ? error(Code::Cancelled, "the run was cancelled") : Status();
}

const std::shared_ptr<MemoryBudget>& RunServices::budget() { return run_.state_->budget; }

uint64_t RunServices::random_stream() {
  // splitmix64 of seed and draw number: independent streams from consecutive numbers.
  uint64_t z = run_.state_->seed + 0x9e3779b97f4a7c15ull * ++run_.state_->random_draws;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void RunServices::note_not_finite() {
  if (auto* flag = run_.state_->not_finite) flag->store(true, std::memory_order_relaxed);
}

Status RunServices::count_iterations(int64_t count) {
  RunState& state = *run_.state_;
  const int64_t limit = state.limits->loop_iterations;
  if (count > limit - state.iterations) {
    state.loops_refused = true;
    return error(Code::ResourceLimit,
                 "the loops of this run have made {} iterations and need {} more; the limit is {} (raise the option "
                 "'loop_limit')",
                 state.iterations, count, limit);
  }
  state.iterations += count;
  return {};
}

int RunServices::threads() { return run_.prepared_.options().threads; }

void RunServices::parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body) {
  RunState& state = *run_.state_;
  const auto until_stopped = [&](int64_t i) {
    // What chunks take and ask, they take and ask as the kernel does, whichever thread they are on.
    const KernelScope scope(*this);
    if (check_cancelled().ok()) body(i);
  };
  if (chunks <= 1 || !state.pool) return KernelServices::parallel_for(chunks, until_stopped);
  // Working memory is planned for so many.
  const int helpers = std::min(state.max_helpers, run_.prepared_.options().threads - 1);
  state.pool->parallel_for(chunks, until_stopped, helpers);
}

}  // namespace tenon
