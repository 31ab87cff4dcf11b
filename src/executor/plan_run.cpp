#include "executor/plan_run.h"

#include <algorithm>

#include "base/float_environment.h"
#include "executor/bound_segment.h"
#include "executor/dims_text.h"
#include "executor/services.h"
#include "executor/unshared.h"
#include "executor/within_memory.h"
#include "tensor/text_memory.h"

namespace tenon {

namespace {

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Reads a list of dtype, rank and dims of one tensor after the other.
class ShapeList {
 public:
  explicit ShapeList(const std::vector<int64_t>& list) : list_(list) {}
  template <class Same>
  bool next_is(const TensorView& view, Same&& same) {
    const size_t rank = view.dims.size();
    if (at_ + 2 + rank > list_.size() || list_[at_] != static_cast<int64_t>(view.dtype) ||
        list_[at_ + 1] != static_cast<int64_t>(rank))
      return false;
    for (size_t i = 0; i < rank; ++i)
      if (!same(i, list_[at_ + 2 + i], view.dims[i])) return false;
    at_ += 2 + rank;
    return true;
  }
  static void append(std::vector<int64_t>& list, const TensorView& view) {
    list.push_back(static_cast<int64_t>(view.dtype));
    list.push_back(view.rank());
    list.insert(list.end(), view.dims.begin(), view.dims.end());
  }

 private:
  const std::vector<int64_t>& list_;
  size_t at_ = 0;
};

}  // namespace

PlanRun::PlanRun(const PreparedPlan& prepared)
    : prepared_(prepared), plan_(prepared.plan()), cells_(plan_.values.size()),
      services_(std::make_unique<RunServices>(*this)) {}

// Where segments and services are complete types.
PlanRun::~PlanRun() = default;

bool PlanRun::fits(std::span<const Value* const> inputs, PlanRun* outer) const {
  return has_types_of(inputs, outer, prepared_.has_late_dims());
}

bool PlanRun::has_types_of(std::span<const Value* const> inputs, PlanRun* outer, bool by_class) const {
  if (!has_shapes_) return false;
  const auto exactly = [](size_t, int64_t before, int64_t now) { return before == now; };
  ShapeList shapes(shapes_);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* tensor = inputs[i] ? inputs[i]->tensor() : nullptr;
    if (inputs[i] && !tensor) return false;
    const TensorView view = tensor ? tensor->view() : TensorView{};
    const std::span<const int> late = by_class ? prepared_.late_axes(plan_.inputs[i].value) : std::span<const int>();
    const auto in_class = [&](size_t axis, int64_t before, int64_t now) {
      return axis < late.size() ? prepared_.capacity(late[axis], before) == prepared_.capacity(late[axis], now)
                                : before == now;
    };
    if (!(late.empty() ? shapes.next_is(view, exactly) : shapes.next_is(view, in_class))) return false;
  }
  return std::ranges::all_of(plan_.captures,
                             [&](const Capture& c) { return shapes.next_is(outer->cell(c.outer).view, exactly); });
}

void PlanRun::set_lent(PlanValueId v, const Value& value) {
  Cell& c = cell(v);
  c.lent = &value;
  c.view = value.tensor() ? value.tensor()->view() : TensorView{};
  held_.push_back(v);
}

void PlanRun::set_boxed(PlanValueId v, Value value) {
  Cell& c = cell(v);
  c.boxed = std::move(value);
  c.lent = nullptr;
  c.view = c.boxed.tensor() ? c.boxed.tensor()->view() : TensorView{};
  held_.push_back(v);
}

// A tensor that this step is going to fill.
void PlanRun::set_new_tensor(PlanValueId v, Tensor tensor) {
  if (tensor.dtype() == DType::String) new_strings_.emplace_back(v, tensor);
  set_boxed(v, std::move(tensor));
}

void PlanRun::set_inputs(std::span<const Value* const> inputs, PlanRun* outer) {
  const bool same = has_types_of(inputs, outer, false);
  same_classes_ = same || (prepared_.has_late_dims() && fits(inputs, outer));
  bool tensors = true;
  if (!same) shapes_.clear();
  const auto note = [&](const Cell& c, bool given) {
    if (same) return;
    tensors = tensors && (!given || c.view.dtype != DType::Undefined);
    ShapeList::append(shapes_, given ? c.view : TensorView{});
  };
  for (size_t i = 0; i < plan_.inputs.size(); ++i) {
    const PlanInput& input = plan_.inputs[i];
    const bool given = i < inputs.size() && inputs[i];
    if (given) {
      set_lent(input.value, *inputs[i]);
    } else if (input.default_slot >= 0) {
      cell(input.value).view = (*state_->slots)[static_cast<size_t>(input.default_slot)].view();
      held_.push_back(input.value);
    }
    note(cell(input.value), given);
  }
  for (const Capture& c : plan_.captures) {
    const Cell& from = outer->cell(c.outer);
    Cell& to = cell(c.inner);
    // A body ends before its captures do.
    to.view = from.view;
    to.lent = from.value();
    held_.push_back(c.inner);
    note(to, from.ready());
  }
  has_shapes_ = same || tensors;
  same_shapes_ = same;
}

void PlanRun::fill_slots() {
  if (state_->slots_number != 0 && state_->slots_number == slots_number_) return;
  slots_number_ = state_->slots_number;
  ++slots_filled_;
  for (size_t v = 0; v < plan_.values.size(); ++v)
    if (plan_.values[v].storage == Storage::Slot)
      cells_[v].view = (*state_->slots)[static_cast<size_t>(plan_.values[v].slot)].view();
}

void PlanRun::clear() {
  for (PlanValueId v : held_) cell(v) = Cell{};
  held_.clear();
  new_strings_.clear();
  state_ = nullptr;
  segment_ = nullptr;
}

// A value that outlives its place: values that somebody owns are shared, lent memory and views into an arena copied.
Result<Value> PlanRun::lasting_copy(PlanValueId v) {
  const Cell& c = cell(v);
  const auto has_owner = [](const Value& value) { return !value.tensor() || value.tensor()->owner(); };
  if (const Value* value = c.value(); value && has_owner(*value)) return *value;
  if (const PlanValue& p = plan_.values[static_cast<size_t>(v)]; p.storage == Storage::Slot)
    if (const Tensor& slot = (*state_->slots)[static_cast<size_t>(p.slot)]; slot.owner()) return Value(slot);
  TN_ASSIGN_OR_RETURN(Tensor copy,
                      Tensor::allocate(c.view.dtype, {c.view.dims.begin(), c.view.dims.end()}, state_->budget));
  copy_elements(c.view, copy.view());
  TN_ASSIGN_OR_RETURN(copy, charge_text(copy, state_->budget));
  return Value(std::move(copy));
}

Status PlanRun::run(RunState& state, std::span<const Value* const> inputs, PlanRun* outer,
                    std::span<const OutputTarget> targets, std::span<Value> results, bool unshared_results) {
  state_ = &state;
  targets_ = targets;
  is_body_ = !unshared_results;
  services_->begin();
  const RunArena::Mark mark = state.arena->mark();
  const auto run_all = [&]() -> Status {
    fill_slots();
    set_inputs(inputs, outer);
    TN_RETURN_IF_ERROR(run_steps());
    return collect_outputs(results);
  };
  Status status = within_memory(run_all);
  clear();
  state.arena->give_back(mark);
  if (!status.ok() || !unshared_results) return status;
  // What leaves the run is its receiver's alone. Inputs and weights are held by others, so only memory that this run
  // allocated can have one holder by now.
  for (size_t i = 0; i < results.size(); ++i) {
    auto alone = within_memory([&] { return unshared(std::move(results[i]), state.budget); });
    if (!alone.ok()) return std::move(alone).status().in(fmt::format("output '{}'", plan_.output_names[i]));
    results[i] = std::move(*alone);
  }
  return {};
}

Status PlanRun::run_steps() {
  const KernelScope scope(*services_);
  for (size_t start = 0, position = 0; start < plan_.steps.size(); ++position) {
    TN_ASSIGN_OR_RETURN(segment_, shaped_segment(position, start));
    TN_RETURN_IF_ERROR(place_segment(*segment_));
    TN_RETURN_IF_ERROR(run_segment(*segment_));
    start = segment_->recipe->end;
  }
  return {};
}

Result<PlanRun::BoundSegment*> PlanRun::segment_at(size_t position, size_t start) {
  if (position < segments_.size()) {
    const Segment& last = *segments_[position]->recipe;
    if (last.begin == start && holds_for(last, cells_) &&
        ((position == 0 && same_classes_) || types_key(prepared_, start, cells_) == last.types))
      return segments_[position].get();
  }
  auto recipe = prepared_.find_segment(types_key(prepared_, start, cells_),
                                       [&](const Segment& segment) { return holds_for(segment, cells_); });
  if (!recipe) {
    TN_ASSIGN_OR_RETURN(recipe, bind_segment(prepared_, start, cells_));
    prepared_.keep_segment(recipe);
  }
  segments_.resize(position);
  segments_.push_back(std::make_unique<BoundSegment>(*this, std::move(recipe)));
  return segments_.back().get();
}

Result<PlanRun::BoundSegment*> PlanRun::shaped_segment(size_t position, size_t start) {
  TN_ASSIGN_OR_RETURN(BoundSegment * segment, segment_at(position, start));
  if (!segment->recipe->shapes || (same_shapes_ && segment->shapes)) return segment;
  if (has_shapes_ && segment->use_shapes_of(shapes_)) return segment;
  auto shapes = shapes_in(prepared_, *segment->recipe, cells_);
  if (shapes.ok()) {
    segment->use_shapes(std::move(*shapes));
    if (has_shapes_) segment->remember_shapes(shapes_);
    return segment;
  }
  // Bound for these shapes alone, it runs or says what is wrong with them.
  prepared_.bind_exactly();
  segments_.clear();
  return segment_at(position, start);
}

// Everything that runs may change: memory, weights, inputs and outputs.
Status PlanRun::place_segment(BoundSegment& segment) {
  const Segment& recipe = *segment.recipe;
  if (recipe.arena_bytes > 0) {
    auto arena = state_->arena->take(recipe.arena_bytes);
    if (!arena.ok()) return std::move(arena).status().in(place_of(hungriest_step(recipe)));
    segment.use_arena(*arena);
  }
  for (const auto& [value, step] : segment.outputs) {
    const Status status = prepare_output(*value);
    if (!status.ok()) return Status(status).in(place_of(plan_.steps[step]));
  }
  segment.use_values(slots_filled_);
  return {};
}

// The one whose results take most of the segment's memory.
const Step& PlanRun::hungriest_step(const Segment& segment) const {
  size_t step = segment.begin;
  int64_t most = 0;
  for (size_t i = 0; i < segment.steps.size(); ++i)
    for (const PlacedValue& p : segment.steps[i].outputs) {
      if (p.place != PlacedValue::Place::Arena) continue;
      const int64_t bytes = storage_bytes(p.dtype, count_of(p.dims)).value_or(0);
      if (bytes > most) step = segment.begin + i;
      most = std::max(most, bytes);
    }
  return plan_.steps[step];
}

Status PlanRun::prepare_output(const PlacedValue& p) {
  Cell& c = cell(p.value);
  switch (p.place) {
    case PlacedValue::Place::Arena:
      c.view = {p.dtype, segment_->dims_of(p), segment_->arena + p.offset};
      return {};
    case PlacedValue::Place::Output: {
      const size_t index =
          static_cast<size_t>(std::find(plan_.outputs.begin(), plan_.outputs.end(), p.value) - plan_.outputs.begin());
      if (index < targets_.size() && targets_[index] && targets_[index]->dtype == p.dtype &&
          std::ranges::equal(targets_[index]->dims, segment_->dims_of(p))) {
        c.view = {p.dtype, segment_->dims_of(p), targets_[index]->data};
        return {};
      }
      [[fallthrough]];
    }
    case PlacedValue::Place::Strings: {
      TN_ASSIGN_OR_RETURN(Tensor t, new_tensor(p));
      set_new_tensor(p.value, std::move(t));
      return {};
    }
    case PlacedValue::Place::Decided:
      // The dtype tells the kernel that the output is wanted.
      c = Cell{};
      c.view = {p.dtype == DType::Undefined ? DType::Float32 : p.dtype, {}, nullptr};
      return {};
  }
  return {};
}

// Small results of bodies are made again and again; what nobody holds any more is used for the next ones.
Result<Tensor> PlanRun::new_tensor(const PlacedValue& p) {
  constexpr int64_t kSpareBytes = 16 * 1024;
  const bool keep = is_body_ && p.place == PlacedValue::Place::Output &&
                    storage_bytes(p.dtype, count_of(p.dims)).value_or(kSpareBytes) < kSpareBytes;
  const Dims now = segment_->dims_of(p);
  std::vector<int64_t> dims(now.begin(), now.end());
  if (!keep) return Tensor::allocate(p.dtype, std::move(dims), state_->budget);
  Tensor* place = nullptr;
  for (Spare& spare : spares_) {
    if (spare.value != p.value || (spare.tensor.defined() && spare.tensor.owner().use_count() > 1)) continue;
    if (spare.tensor.defined() && spare.tensor.dims() == dims && spare.tensor.dtype() == p.dtype) return spare.tensor;
    place = &spare.tensor;
  }
  TN_ASSIGN_OR_RETURN(Tensor made, Tensor::allocate(p.dtype, std::move(dims), state_->budget));
  constexpr auto kSparesOfOne = 3;  // what goes in, what comes out, and one that is kept a little longer
  if (place)
    *place = made;
  else if (std::ranges::count(spares_, p.value, &Spare::value) < kSparesOfOne)
    spares_.push_back({p.value, made});
  return made;
}

Status PlanRun::run_segment(BoundSegment& segment) {
  const size_t begin = segment.recipe->begin;
  SubnormalScope subnormals;
  const auto run_from = [&](size_t& i) -> Status {
    for (; i < segment.steps.size(); ++i) {
      if (state_->must_stop()) return error(Code::Cancelled, "the run was cancelled");
      step_ = begin + i;
      BoundStep& step = segment.steps[i];
      subnormals.flush(step.flushes_subnormals);
      if (step.is_simple && !state_->profile)
        TN_RETURN_IF_ERROR(step.kernel(step.context));
      else
        TN_RETURN_IF_ERROR(run_step(segment, i));
      if (state_->stopped.load(std::memory_order_relaxed)) return error(Code::Cancelled, "the run was cancelled");
    }
    return {};
  };
  size_t i = 0;
  Status status = within_memory([&]() -> Status {
    try {
      return run_from(i);
    } catch (KernelStop& stop) {
      return std::move(stop.status);
    }
  });
  return status.ok() ? Status() : std::move(status).in(place_of(plan_.steps[begin + i]));
}

Status PlanRun::run_step(BoundSegment& segment, size_t i) {
  const int64_t start = state_->profile ? now_ns() : 0;
  const PlacedStep& placed = segment.recipe->steps[i];
  switch (placed.kind) {
    case PlacedStep::Kind::Nothing:
      break;
    case PlacedStep::Kind::Plain:
      TN_RETURN_IF_ERROR(placed.spread.empty() ? segment.steps[i].kernel(segment.steps[i].context)
                                               : segment.run_spread(i, *services_));
      break;
    case PlacedStep::Kind::General:
      TN_RETURN_IF_ERROR(run_general(segment, i));
      break;
  }
  if (state_->profile) add_to_profile(segment, i, start, now_ns());
  for (PlanValueId v : placed.dead) drop(v);
  return {};
}

void PlanRun::add_to_profile(BoundSegment& segment, size_t i, int64_t start, int64_t end) {
  const PlacedStep& placed = segment.recipe->steps[i];
  const Step& step = plan_.steps[step_];
  StepTime time{step.origin, step.family, placed.kernel.variant->name, state_->depth, start - state_->profile_origin_ns,
                end - start};
  if (placed.kind == PlacedStep::Kind::Nothing) time.work.flops = 0;
  if (placed.kind == PlacedStep::Kind::Plain) {
    const StepSpans spans = segment.spans(i);
    time.work = work_of(step.op, step.params, spans.inputs, spans.outputs);
    time.dims.assign(spans.outputs[0].dims.begin(), spans.outputs[0].dims.end());
  }
  state_->profile->push_back(std::move(time));
}

void PlanRun::drop(PlanValueId v) {
  Cell& c = cell(v);
  if (!c.boxed.empty()) c = Cell{};
}

Status PlanRun::run_general(BoundSegment& segment, size_t i) {
  const Step& step = plan_.steps[step_];
  const PlacedStep& placed = segment.recipe->steps[i];
  new_strings_.clear();
  for (const PlacedValue& p : placed.outputs)
    if (p.place != PlacedValue::Place::Output) TN_RETURN_IF_ERROR(prepare_output(p));
  TN_RETURN_IF_ERROR(segment.gather_views(i));
  const StepSpans spans = segment.spans(i);
  TN_RETURN_IF_ERROR(call_bound(placed.kernel, prepared_.family(step_), step.params, spans.inputs, spans.boxed,
                                spans.outputs, *services_));
  for (const PlacedValue& p : placed.outputs) {
    if (p.place != PlacedValue::Place::Decided || cell(p.value).value()) continue;
    if (!step.bodies.empty()) return invalid_model("a sub-graph does not produce one of its outputs");
    return error(Code::Internal, "the kernel family '{}' did not produce its output", step.family);
  }
  for (auto& [value, tensor] : new_strings_) {
    // A kernel may have put another value there, whose text is paid for where it was made.
    const Tensor* result = cell(value).boxed.tensor();
    if (!result || result->data() != tensor.data()) continue;
    TN_ASSIGN_OR_RETURN(Tensor charged, charge_text(tensor, state_->budget));
    set_boxed(value, std::move(charged));
  }
  new_strings_.clear();
  return {};
}

Status PlanRun::collect_outputs(std::span<Value> results) {
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    if (plan_.outputs[i] == kNoValue) continue;
    auto value = output_value(i);
    if (!value.ok()) return std::move(value).status().in(fmt::format("output '{}'", plan_.output_names[i]));
    results[i] = std::move(*value);
  }
  return {};
}

Result<Value> PlanRun::output_value(size_t index) {
  const PlanValueId v = plan_.outputs[index];
  if (index >= targets_.size() || !targets_[index]) return lasting_copy(v);
  const TensorView &view = cell(v).view, &target = *targets_[index];
  if (view.dtype != target.dtype || !std::ranges::equal(view.dims, target.dims))
    return invalid_argument("the output is {}{}, but the buffer given for it is {}{}", dtype_name(view.dtype),
                            dims_text(view.dims), dtype_name(target.dtype), dims_text(target.dims));
  if (view.data != target.data) copy_elements(view, target);
  return Value();
}

Result<std::vector<Value>> PlanRun::run_body(size_t body, const std::vector<Value>& inputs) {
  const PreparedPlan& prepared = prepared_.body(step_, body);
  std::unique_ptr<PlanRun>& run = segment_->body_run(step_ - segment_->recipe->begin, body);
  body_inputs_.clear();
  for (const Value& value : inputs) body_inputs_.push_back(value.empty() ? nullptr : &value);
  const auto fits = [&](const PlanRun& other) { return other.fits(body_inputs_, this); };
  if (!run || !fits(*run)) {
    if (run) prepared.give_back(std::move(run));
    run = prepared.take_run(fits);
    if (!run) run = std::make_unique<PlanRun>(prepared);
  }
  std::vector<Value> results(prepared.plan().outputs.size());
  TN_RETURN_IF_ERROR(run->run(*state_, body_inputs_, this, {}, results, false));
  return results;
}

}  // namespace tenon
