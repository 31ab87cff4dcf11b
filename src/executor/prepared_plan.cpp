#include "executor/prepared_plan.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "executor/plan_run.h"
#include "ops/require_shapes.h"
#include "plan/fixed_sources.h"
#include "plan/plan_check.h"

namespace tenon {

std::string place_of(const Step& step) {
  // What an ONNX op requires is no op of the model.
  const std::string_view op =
      step.op == OpId::RequireShapes ? step.params.get<RequireShapesParams>().op_type : op_def(step.op).name;
  return fmt::format("node '{}' ({})", step.origin, op);
}

std::shared_ptr<const std::vector<bool>> fixed_slots(const Program& program) {
  const std::vector<bool> fixed_source = fixed_sources(program);
  auto fixed = std::make_shared<std::vector<bool>>();
  for (const WeightEntry& entry : program.weight_program)
    fixed->push_back(
        std::ranges::all_of(entry.sources, [&](int32_t id) { return fixed_source[static_cast<size_t>(id)]; }));
  return fixed;
}

bool PreparedPlan::is_fixed(PlanValueId value) const {
  const PlanValue& v = plan_.values[static_cast<size_t>(value)];
  return v.storage == Storage::Slot && options_.fixed_slots && (*options_.fixed_slots)[static_cast<size_t>(v.slot)];
}

Result<std::unique_ptr<PreparedPlan>> PreparedPlan::make(const Plan& plan, const BindOptions& options) {
  std::unique_ptr<PreparedPlan> prepared(new PreparedPlan(plan));
  prepared->options_ = options;
  for (const Step& step : plan.steps) {
    TN_RETURN_IF_ERROR(check_signature(step).in(place_of(step)));
    const KernelFamily* family = find_family(step.family);
    if (!family)
      return error(Code::Incompatible, "this version of Tenon has no kernel family '{}'; compile the model again",
                   step.family)
          .in(place_of(step));
    if (!family->takes_blocked)
      for (const auto& values : {step.inputs, step.outputs})
        for (const PlanValueId v : values)
          if (v != kNoValue && !plan.values[static_cast<size_t>(v)].layout.is_plain())
            return invalid_model("the kernel family '{}' does not support values in blocks", step.family)
                .in(place_of(step));
    if (!family->takes_borders)
      for (const auto& values : {step.inputs, step.outputs})
        for (const PlanValueId v : values) {
          if (v == kNoValue) continue;
          const ValueLayout& layout = plan.values[static_cast<size_t>(v)].layout;
          if (layout.border > 0 || !layout.segments.empty())
            return invalid_model("the kernel family '{}' does not support values with borders or segments", step.family)
                .in(place_of(step));
        }
    prepared->families_.push_back(family);
    auto& bodies = prepared->bodies_.emplace_back();
    for (const auto& body : step.bodies) {
      TN_ASSIGN_OR_RETURN(auto prepared_body, make(*body, options));
      bodies.push_back(std::move(prepared_body));
    }
  }
  prepared->find_lifetimes();
  prepared->find_late_axes();
  return prepared;
}

// Where runs are a complete type.
PreparedPlan::PreparedPlan(const Plan& plan) : plan_(plan) {}
PreparedPlan::~PreparedPlan() = default;

void PreparedPlan::find_lifetimes() {
  const size_t count = plan_.values.size();
  made_at_.assign(count, 0);
  last_use_.assign(count, 0);
  is_output_.assign(count, false);
  dead_after_.resize(plan_.steps.size());
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    const Step& step = plan_.steps[s];
    auto use = [&](PlanValueId v) {
      if (v != kNoValue) last_use_[static_cast<size_t>(v)] = s;
    };
    for (PlanValueId v : step.inputs) use(v);
    for (const auto& body : step.bodies)
      for (const Capture& c : body->captures) use(c.outer);
    for (PlanValueId v : step.outputs) {
      if (v == kNoValue) continue;
      made_at_[static_cast<size_t>(v)] = s + 1;
      use(v);
    }
  }
  for (PlanValueId v : plan_.outputs) {
    if (v == kNoValue) continue;
    is_output_[static_cast<size_t>(v)] = true;
    last_use_[static_cast<size_t>(v)] = plan_.steps.size();
  }
  for (size_t v = 0; v < count; ++v)
    if (made_at_[v] > 0 && last_use_[v] < plan_.steps.size())
      dead_after_[last_use_[v]].push_back(static_cast<PlanValueId>(v));
}

void PreparedPlan::find_late_axes() {
  if (plan_.late_dims.empty()) return;
  for (const PlanInput& input : plan_.inputs) {
    const auto& shape = plan_.values[static_cast<size_t>(input.value)].type.shape;
    if (!shape) continue;
    std::vector<int> axes;
    for (const Dim& d : *shape) {
      const auto name = d.as_symbol();
      const auto late = std::ranges::find_if(plan_.late_dims, [&](const LateDim& l) { return name == l.symbol; });
      axes.push_back(late == plan_.late_dims.end() ? -1 : static_cast<int>(late - plan_.late_dims.begin()));
    }
    if (std::ranges::any_of(axes, [](int late) { return late >= 0; })) late_axes_[input.value] = std::move(axes);
  }
}

std::span<const int> PreparedPlan::late_axes(PlanValueId value) const {
  if (!has_late_dims()) return {};
  const auto it = late_axes_.find(value);
  return it == late_axes_.end() ? std::span<const int>() : std::span(it->second);
}

int64_t PreparedPlan::capacity(int late, int64_t extent) const {
  constexpr int64_t kLeast = 16;
  // Tensors with no and with one element along an axis are treated in ways of their own; and nothing that large is one.
  if (late < 0 || extent <= 1 || extent > std::numeric_limits<int32_t>::max()) return extent;
  if (extent <= kLeast) return kLeast;
  const auto doubled = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent)));
  if (plan_.late_dims[static_cast<size_t>(late)].classes == LateDim::Classes::Doublings) return doubled;
  const int64_t step = doubled / 8;
  return (extent + step - 1) / step * step;
}

std::vector<PlanValueId> PreparedPlan::live_into(size_t step) const {
  std::vector<PlanValueId> live;
  for (size_t v = 0; v < plan_.values.size(); ++v)
    if (plan_.values[v].storage != Storage::Slot && made_at_[v] <= step && last_use_[v] >= step)
      live.push_back(static_cast<PlanValueId>(v));
  return live;
}

std::shared_ptr<const Segment> PreparedPlan::find_segment(const std::string& types,
                                                          FunctionRef<bool(const Segment&)> fits) const {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = index_.equal_range(types);
  for (auto it = first; it != last; ++it) {
    if (!fits(**it->second)) continue;
    recent_.splice(recent_.begin(), recent_, it->second);
    return *it->second;
  }
  return nullptr;
}

size_t PreparedPlan::segment_count() const {
  const std::lock_guard lock(mutex_);
  return recent_.size();
}

void PreparedPlan::keep_segment(const std::shared_ptr<const Segment>& segment) const {
  const std::lock_guard lock(mutex_);
  recent_.push_front(segment);
  index_.emplace(segment->types, recent_.begin());
  if (recent_.size() <= static_cast<size_t>(std::max<int64_t>(1, options_.cached_segments))) return;
  const auto [first, last] = index_.equal_range(recent_.back()->types);
  index_.erase(std::find_if(first, last, [&](const auto& entry) { return *entry.second == recent_.back(); }));
  recent_.pop_back();
}

std::unique_ptr<PlanRun> PreparedPlan::take_run(FunctionRef<bool(const PlanRun&)> fits) const {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& run) { return fits(*run); });
  if (found == idle_.rend()) {
    // As long as there is room, a new one leaves those for other shapes as they are.
    if (idle_.size() < static_cast<size_t>(std::max<int64_t>(1, options_.cached_segments))) return nullptr;
    found = std::prev(idle_.rend());
  }
  std::unique_ptr<PlanRun> run = std::move(*found);
  idle_.erase(std::next(found).base());
  return run;
}

void PreparedPlan::give_back(std::unique_ptr<PlanRun> run) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(run));
}

}  // namespace tenon
