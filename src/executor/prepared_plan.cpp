#include "executor/prepared_plan.h"

#include <algorithm>

#include "plan/fixed_sources.h"
#include "plan/plan_check.h"

namespace tenon {

std::string place_of(const Step& step) { return fmt::format("node '{}' ({})", step.origin, op_def(step.op).name); }

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
  return v.storage == Storage::Slot && fixed_slots_ && (*fixed_slots_)[static_cast<size_t>(v.slot)];
}

Result<std::unique_ptr<PreparedPlan>> PreparedPlan::make(const Plan& plan, int64_t cached_segments,
                                                         const std::shared_ptr<const std::vector<bool>>& fixed_slots) {
  std::unique_ptr<PreparedPlan> prepared(new PreparedPlan(plan));
  prepared->fixed_slots_ = fixed_slots;
  prepared->capacity_ = static_cast<size_t>(std::max<int64_t>(1, cached_segments));
  for (const Step& step : plan.steps) {
    TN_RETURN_IF_ERROR(check_signature(step).in(place_of(step)));
    Kernel kernel = find_kernel(step.family);
    if (!kernel.function)
      return error(Code::Incompatible, "no kernel family '{}' in this version; compile the model again", step.family)
          .in(place_of(step));
    prepared->kernels_.push_back(kernel);
    auto& bodies = prepared->bodies_.emplace_back();
    for (const auto& body : step.bodies) {
      TN_ASSIGN_OR_RETURN(auto prepared_body, make(*body, cached_segments, fixed_slots));
      bodies.push_back(std::move(prepared_body));
    }
  }
  prepared->find_lifetimes();
  return prepared;
}

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

std::vector<PlanValueId> PreparedPlan::live_into(size_t step) const {
  std::vector<PlanValueId> live;
  for (size_t v = 0; v < plan_.values.size(); ++v)
    if (plan_.values[v].storage != Storage::Slot && made_at_[v] <= step && last_use_[v] >= step)
      live.push_back(static_cast<PlanValueId>(v));
  return live;
}

std::shared_ptr<const Segment> PreparedPlan::find_segment(const std::string& key) const {
  std::lock_guard lock(mutex_);
  auto it = index_.find(key);
  if (it == index_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, it->second);
  return it->second->second;
}

void PreparedPlan::keep_segment(const std::string& key, std::shared_ptr<const Segment> segment) const {
  std::lock_guard lock(mutex_);
  if (index_.contains(key)) return;
  recent_.emplace_front(key, std::move(segment));
  index_[key] = recent_.begin();
  if (recent_.size() > capacity_) {
    index_.erase(recent_.back().first);
    recent_.pop_back();
  }
}

void PreparedPlan::release_idle_arenas() const {
  std::vector<std::shared_ptr<Buffer>> released;  // freed without the locks
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, segment] : recent_) {
      const std::lock_guard arena_lock(segment->arena_mutex);
      std::ranges::move(segment->free_arenas, std::back_inserter(released));
      segment->free_arenas.clear();
    }
  }
  for (const auto& of_step : bodies_)
    for (const auto& body : of_step) body->release_idle_arenas();
}

std::vector<PlanValueId> PreparedPlan::content_keys(size_t start) const {
  std::lock_guard lock(mutex_);
  auto it = content_keys_.find(start);
  return it == content_keys_.end() ? std::vector<PlanValueId>{} : it->second;
}

void PreparedPlan::add_content_key(size_t start, PlanValueId value) const {
  std::lock_guard lock(mutex_);
  auto& keys = content_keys_[start];
  if (std::find(keys.begin(), keys.end(), value) == keys.end()) keys.push_back(value);
}

}  // namespace tenon
