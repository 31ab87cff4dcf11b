#include "executor/executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/checked_math.h"
#include "base/float_environment.h"
#include "executor/unshared.h"
#include "executor/within_memory.h"
#include "tensor/nesting.h"
#include "tensor/text_memory.h"

namespace tenon {

Frame::~Frame() {
  for (auto& [segment, arena] : arenas) {
    if (scratch) {
      if (!*scratch || (*scratch)->size() < arena->size()) *scratch = std::move(arena);
      continue;
    }
    std::lock_guard lock(segment->arena_mutex);
    if (segment->free_arenas.size() < 4) segment->free_arenas.push_back(std::move(arena));
  }
}

namespace {

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string dims_text(Dims dims) { return shape_text(to_shape(dims)); }

// True when all results are empty and come from extents that only an empty tensor can have: loops over the others of
// its axes would not end.
bool is_huge_nothing(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                     const std::vector<PlacedValue>& placed) {
  constexpr double kMostLoops = 1e10;
  for (const PlacedValue& p : placed)
    if (p.place == PlacedValue::Place::Decided || count_of(p.dims) != 0) return false;
  const auto is_huge = [](const TensorView& view) {
    double loops = 1;
    for (int64_t d : view.dims) loops *= static_cast<double>(std::max<int64_t>(d, 1));
    return view.size() == 0 && loops > kMostLoops;
  };
  return std::ranges::any_of(inputs, is_huge) || std::ranges::any_of(outputs, is_huge);
}

class PlanRun {
 public:
  PlanRun(const PreparedPlan& prepared, RunState& state, std::span<const OutputTarget> targets)
      : prepared_(prepared), plan_(prepared.plan()), state_(state), targets_(targets) {
    frame_.cells.resize(plan_.values.size());
    frame_.scratch = state.scratch;
  }

  Result<std::vector<Value>> run(std::vector<Value> inputs, std::vector<Value> captures) {
    fill_slots();
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      const PlanInput& input = plan_.inputs[i];
      if (i < inputs.size() && !inputs[i].empty())
        set_cell(input.value, std::move(inputs[i]));
      else if (input.default_slot >= 0)
        set_cell(input.value, (*state_.slots)[static_cast<size_t>(input.default_slot)]);
    }
    for (size_t i = 0; i < plan_.captures.size(); ++i)
      if (!captures[i].empty()) set_cell(plan_.captures[i].inner, std::move(captures[i]));

    for (size_t start = 0; start < plan_.steps.size();) {
      TN_ASSIGN_OR_RETURN(auto segment, segment_from(start));
      TN_RETURN_IF_ERROR(run_segment(*segment));
      start = segment->end;
    }
    return collect_outputs();
  }

  Cell& cell(PlanValueId v) { return frame_.cells[static_cast<size_t>(v)]; }

  void set_cell(PlanValueId v, Value value) {
    Cell& c = cell(v);
    c.boxed = std::move(value);
    c.view = c.boxed.tensor() ? c.boxed.tensor()->view() : TensorView{};
  }

  // A tensor that this step is going to fill.
  void set_new_tensor(PlanValueId v, Tensor tensor) {
    if (tensor.dtype() == DType::String) new_strings_.emplace_back(v, tensor);
    set_cell(v, std::move(tensor));
  }

  // A value that outlives its place: boxed ones are shared, lent ones and views into an arena are copied.
  Result<Value> own(PlanValueId v) {
    Cell& c = cell(v);
    const bool lent = c.boxed.tensor() && !c.boxed.tensor()->owner();
    if (!c.boxed.empty() && !lent) return c.boxed;
    TN_ASSIGN_OR_RETURN(Tensor copy,
                        Tensor::allocate(c.view.dtype, {c.view.dims.begin(), c.view.dims.end()}, state_.budget));
    copy_elements(c.view, copy.view());
    TN_ASSIGN_OR_RETURN(copy, charge_text(copy, state_.budget));
    return Value(std::move(copy));
  }

  RunState& state() { return state_; }
  const PreparedPlan& prepared() const { return prepared_; }

 private:
  class Services;

  void fill_slots() {
    for (size_t v = 0; v < plan_.values.size(); ++v)
      if (plan_.values[v].storage == Storage::Slot)
        set_cell(static_cast<PlanValueId>(v), (*state_.slots)[static_cast<size_t>(plan_.values[v].slot)]);
  }

  Result<std::shared_ptr<const Segment>> segment_from(size_t start) {
    auto segment = prepared_.find_segment(segment_key(prepared_, start, frame_));
    if (!segment) {
      TN_ASSIGN_OR_RETURN(segment, bind_segment(prepared_, start, frame_));
      // Binding may have found new contents that matter, so the key is made again.
      prepared_.keep_segment(segment_key(prepared_, start, frame_), segment);
    }
    frame_.segments.push_back(segment);
    return segment;
  }

  Result<std::byte*> arena_of(const Segment& segment) {
    if (segment.arena_bytes == 0) return nullptr;
    std::shared_ptr<Buffer> arena;
    if (state_.scratch) {
      arena = std::move(*state_.scratch);
      // Gone before a larger one comes.
      if (arena && arena->size() < segment.arena_bytes) arena.reset();
    } else {
      std::lock_guard lock(segment.arena_mutex);
      if (!segment.free_arenas.empty()) {
        arena = std::move(segment.free_arenas.back());
        segment.free_arenas.pop_back();
      }
    }
    if (!arena) {
      auto allocated = Buffer::allocate(segment.arena_bytes, state_.budget);
      if (!allocated.ok()) return std::move(allocated).status().in(place_of(hungriest_step(segment)));
      arena = std::move(*allocated);
    }
    std::byte* data = arena->data();
    frame_.arenas.emplace_back(&segment, std::move(arena));
    return data;
  }

  // The one whose results take most of the segment's memory.
  const Step& hungriest_step(const Segment& segment) const {
    size_t step = segment.begin;
    int64_t most = 0;
    for (size_t s = segment.begin; s < segment.end; ++s)
      for (const PlacedValue& p : segment.placed[s - segment.begin]) {
        if (p.place != PlacedValue::Place::Arena) continue;
        const int64_t bytes = storage_bytes(p.dtype, count_of(p.dims)).value_or(0);
        if (bytes > most) step = s;
        most = std::max(most, bytes);
      }
    return plan_.steps[step];
  }

  Status run_segment(const Segment& segment) {
    TN_ASSIGN_OR_RETURN(std::byte * arena, arena_of(segment));
    for (size_t s = segment.begin; s < segment.end; ++s) {
      if (state_.must_stop()) return error(Code::Cancelled, "the run was cancelled");
      const std::vector<PlacedValue>& placed = segment.placed[s - segment.begin];
      new_strings_.clear();
      Status status = within_memory([&]() -> Status {
        for (const PlacedValue& p : placed) TN_RETURN_IF_ERROR(prepare_output(p, arena));
        return run_step(s, placed);
      });
      if (!status.ok()) return std::move(status).in(place_of(plan_.steps[s]));
      for (PlanValueId v : prepared_.dead_after(s)) cell(v) = Cell{};
    }
    return {};
  }

  Status prepare_output(const PlacedValue& p, std::byte* arena) {
    Cell& c = cell(p.value);
    switch (p.place) {
      case PlacedValue::Place::Arena:
        c.view = {p.dtype, p.dims, arena + p.offset};
        return {};
      case PlacedValue::Place::Output: {
        const size_t index =
            static_cast<size_t>(std::find(plan_.outputs.begin(), plan_.outputs.end(), p.value) - plan_.outputs.begin());
        if (index < targets_.size() && targets_[index] && targets_[index]->dtype == p.dtype &&
            std::ranges::equal(targets_[index]->dims, p.dims)) {
          c.view = {p.dtype, p.dims, targets_[index]->data};
          return {};
        }
        [[fallthrough]];
      }
      case PlacedValue::Place::Strings: {
        TN_ASSIGN_OR_RETURN(Tensor t, Tensor::allocate(p.dtype, p.dims, state_.budget));
        set_new_tensor(p.value, std::move(t));
        return {};
      }
      case PlacedValue::Place::Decided:
        // The dtype tells the kernel that the output is wanted.
        c.view = {p.dtype == DType::Undefined ? DType::Float32 : p.dtype, {}, nullptr};
        return {};
    }
    return {};
  }

  Status run_step(size_t s, const std::vector<PlacedValue>& placed);

  Result<std::vector<Value>> collect_outputs() {
    std::vector<Value> results(plan_.outputs.size());
    TN_RETURN_IF_ERROR(for_each_output([&](size_t i) -> Status {
      TN_ASSIGN_OR_RETURN(results[i], output_value(i, plan_.outputs[i]));
      return {};
    }));
    // The results of a body stay in the run.
    if (state_.depth > 0) return results;
    new_strings_.clear();
    for (PlanValueId v : plan_.outputs)
      if (v != kNoValue && prepared_.is_made_by_step(v)) cell(v) = Cell{};
    TN_RETURN_IF_ERROR(for_each_output([&](size_t i) -> Status {
      TN_ASSIGN_OR_RETURN(results[i], leave(i, std::move(results[i])));
      return {};
    }));
    return results;
  }

  Status for_each_output(FunctionRef<Status(size_t)> body) {
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      if (plan_.outputs[i] == kNoValue) continue;
      Status status = within_memory([&] { return body(i); });
      if (!status.ok()) return std::move(status).in("output '" + plan_.output_names[i] + "'");
    }
    return {};
  }

  Result<Value> output_value(size_t index, PlanValueId v) {
    Cell& c = cell(v);
    const bool to_caller = index < targets_.size() && targets_[index];
    if (to_caller) {
      const TensorView& target = *targets_[index];
      if (c.view.dtype != target.dtype || !std::ranges::equal(c.view.dims, target.dims))
        return invalid_argument("it is {}{}, the buffer given for it is {}{}", dtype_name(c.view.dtype),
                                dims_text(c.view.dims), dtype_name(target.dtype), dims_text(target.dims));
      if (c.view.data != target.data) copy_elements(c.view, target);
      return Value(Tensor::borrow(target.dtype, {target.dims.begin(), target.dims.end()}, target.data, nullptr));
    }
    return own(v);
  }

  // What leaves the run is its receiver's alone. Inputs and weights are still held here, so only memory that this run
  // allocated can have one holder.
  Result<Value> leave(size_t index, Value value) {
    if (index < targets_.size() && targets_[index]) return value;
    return unshared(std::move(value), state_.budget);
  }

  const PreparedPlan& prepared_;
  const Plan& plan_;
  RunState& state_;
  std::span<const OutputTarget> targets_;
  Frame frame_;
  std::vector<TensorView> input_views_, output_views_;
  std::vector<const Value*> boxed_inputs_;
  std::vector<std::pair<PlanValueId, Tensor>> new_strings_;  // made for the step that runs
};

// What a kernel can ask of the run it is part of.
class PlanRun::Services final : public KernelServices {
 public:
  Services(PlanRun& run, size_t step) : run_(run), index_(step), step_(run.prepared().plan().steps[step]) {}

  Result<TensorView> allocate_output(size_t i, std::vector<int64_t> dims) override {
    if (i >= step_.outputs.size() || step_.outputs[i] == kNoValue)
      return error(Code::Internal, "{} makes its output {}, which nobody wants", step_.family, i);
    Cell& c = run_.cell(step_.outputs[i]);
    if (c.view.data || !c.boxed.empty()) {
      if (!std::ranges::equal(c.view.dims, dims))
        return error(Code::Internal, "output {} has the shape {}, its rule says {}", i, dims_text(dims),
                     dims_text(c.view.dims));
      return c.view;
    }
    TN_ASSIGN_OR_RETURN(Tensor t, Tensor::allocate(c.view.dtype, std::move(dims), run_.state().budget));
    run_.set_new_tensor(step_.outputs[i], std::move(t));
    return c.view;
  }

  void set_output(size_t i, Value value) override {
    if (i >= step_.outputs.size() || step_.outputs[i] == kNoValue) return;
    Cell& c = run_.cell(step_.outputs[i]);
    const Tensor* t = value.tensor();
    if (Status status = t ? Status() : check_nesting(value); !status.ok()) throw KernelStop{std::move(status)};
    // A place that binding chose keeps its memory; the elements move there.
    if (t && c.view.data && c.view.dtype == t->dtype() && std::ranges::equal(c.view.dims, t->dims()))
      copy_elements(t->view(), c.view);
    else
      run_.set_cell(step_.outputs[i], std::move(value));
  }

  Result<Value> take_input(size_t i) override {
    if (i >= step_.inputs.size() || step_.inputs[i] == kNoValue) return invalid_model("input {} is missing", i);
    return run_.own(step_.inputs[i]);
  }

  Result<std::vector<Value>> run_body(size_t body, std::vector<Value> inputs) override {
    RunState& state = run_.state();
    if (state.depth >= state.limits->max_body_depth)
      return error(Code::ResourceLimit, "sub-graphs are nested more than {} deep", state.limits->max_body_depth);
    const PreparedPlan& prepared = run_.prepared().body(index_, body);
    std::vector<Value> captures;
    for (const Capture& c : prepared.plan().captures) {
      Cell& cell = run_.cell(c.outer);
      // A body ends before its captures do, so views are lent, not copied.
      if (cell.boxed.empty() && cell.view.dtype != DType::Undefined)
        captures.push_back(
            Tensor::borrow(cell.view.dtype, {cell.view.dims.begin(), cell.view.dims.end()}, cell.view.data, nullptr));
      else
        captures.push_back(cell.boxed);
    }
    ++state.depth;
    auto result = PlanRun(prepared, state, {}).run(std::move(inputs), std::move(captures));
    --state.depth;
    return result;
  }

  size_t body_input_count(size_t body) override { return step_.bodies[body]->inputs.size(); }
  Type body_output_type(size_t body, size_t output) override {
    const Plan& plan = *step_.bodies[body];
    const PlanValueId v = output < plan.outputs.size() ? plan.outputs[output] : kNoValue;
    return v == kNoValue ? Type{} : plan.values[static_cast<size_t>(v)].type;
  }

  Status check_cancelled() override {
    RunState& state = run_.state();
    // The caller is not asked again once the answer was to stop.
    if (!state.stopped.load(std::memory_order_relaxed) && std::this_thread::get_id() == caller_) {
      if (state.must_stop()) state.stopped.store(true, std::memory_order_relaxed);
    } else if (state.cancelled && state.cancelled->load(std::memory_order_relaxed)) {
      state.stopped.store(true, std::memory_order_relaxed);
    }
    return state.stopped.load(std::memory_order_relaxed) ? error(Code::Cancelled, "the run was cancelled") : Status();
  }
  const std::shared_ptr<MemoryBudget>& budget() override { return run_.state().budget; }
  uint64_t random_stream() override {
    // splitmix64 of seed and draw number: independent streams from consecutive numbers.
    uint64_t z = run_.state().seed + 0x9e3779b97f4a7c15ull * ++run_.state().random_draws;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  void note_not_finite() override {
    if (auto* flag = run_.state().not_finite) flag->store(true, std::memory_order_relaxed);
  }
  Status count_iterations(int64_t count) override {
    RunState& state = run_.state();
    const int64_t limit = state.limits->loop_iterations;
    if (count > limit - state.iterations)
      return error(Code::ResourceLimit,
                   "the loops of this run have run {} times and would run {} more; the limit is {} (raise the option "
                   "'loop_limit')",
                   state.iterations, count, limit);
    state.iterations += count;
    return {};
  }
  void parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body) override {
    RunState& state = run_.state();
    const auto until_stopped = [&](int64_t i) {
      // What chunks take and ask, they take and ask as the kernel does, whichever thread they are on.
      const KernelScope scope(*this);
      if (check_cancelled().ok()) body(i);
    };
    if (state.pool)
      state.pool->parallel_for(chunks, until_stopped, state.max_helpers);
    else
      KernelServices::parallel_for(chunks, until_stopped);
  }

 private:
  PlanRun& run_;
  size_t index_;
  const Step& step_;
  // Only the thread that runs the plan asks its caller whether to go on; the others see the answer.
  const std::thread::id caller_ = std::this_thread::get_id();
};

Status PlanRun::run_step(size_t s, const std::vector<PlacedValue>& placed) {
  const Step& step = plan_.steps[s];
  input_views_.clear();
  boxed_inputs_.clear();
  output_views_.clear();
  for (PlanValueId v : step.inputs) {
    if (v == kNoValue) {
      input_views_.emplace_back();
      boxed_inputs_.push_back(nullptr);
      continue;
    }
    Cell& c = cell(v);
    if (!c.ready()) return error(Code::Internal, "input '{}' has no value", plan_.values[static_cast<size_t>(v)].name);
    input_views_.push_back(c.view);
    boxed_inputs_.push_back(c.view.dtype == DType::Undefined ? &c.boxed : nullptr);
  }
  for (PlanValueId v : step.outputs) output_views_.push_back(v == kNoValue ? TensorView{} : cell(v).view);

  if (step.bodies.empty() && is_huge_nothing(input_views_, output_views_, placed)) return {};
  Services services(*this, s);
  const int64_t begin = state_.profile ? now_ns() : 0;
  TN_RETURN_IF_ERROR(
      call_kernel(prepared_.kernel(s), step.params, input_views_, boxed_inputs_, output_views_, services));
  if (state_.stopped) return error(Code::Cancelled, "the run was cancelled");
  if (state_.profile)
    state_.profile->push_back({step.origin, step.family, begin - state_.profile_origin_ns, now_ns() - begin});

  for (const PlacedValue& p : placed) {
    Cell& c = cell(p.value);
    if (p.place != PlacedValue::Place::Decided || !c.boxed.empty()) continue;
    if (!step.bodies.empty()) return invalid_model("a sub-graph does not make one of the outputs");
    return error(Code::Internal, "{} did not bring its output", step.family);
  }
  for (const auto& [value, tensor] : new_strings_) {
    // A kernel may have put another value there, whose text is paid for where it was made.
    const Tensor* result = cell(value).boxed.tensor();
    if (!result || result->data() != tensor.data()) continue;
    TN_ASSIGN_OR_RETURN(Tensor charged, charge_text(tensor, state_.budget));
    set_cell(value, std::move(charged));
  }
  return {};
}

}  // namespace

Result<std::vector<Value>> run_plan(const PreparedPlan& plan, RunState& state, std::vector<Value> inputs,
                                    std::vector<Value> captures, std::span<const OutputTarget> targets) {
  const DefaultFloatEnvironment environment;
  return PlanRun(plan, state, targets).run(std::move(inputs), std::move(captures));
}

}  // namespace tenon
