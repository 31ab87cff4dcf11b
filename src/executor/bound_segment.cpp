#include "executor/bound_segment.h"

#include <algorithm>
#include <utility>

#include "executor/services.h"

namespace tenon {

PlanRun::BoundSegment::BoundSegment(PlanRun& owner, std::shared_ptr<const Segment> segment)
    : run(owner), recipe(std::move(segment)) {
  size_t views = 0, boxed = 0, spread = 0;
  for (size_t i = 0; i < recipe->steps.size(); ++i) {
    const Step& step = run.plan_.steps[recipe->begin + i];
    ranges_.push_back({views, step.inputs.size(), step.outputs.size(), spread});
    views += step.inputs.size() + step.outputs.size();
    boxed = views;
    if (!recipe->steps[i].spread.empty()) spread += step.inputs.size() + step.outputs.size();
  }
  // Kernels hold on to places in these, so they must not grow later.
  views_.resize(views);
  boxed_.resize(boxed);
  spread_views_.resize(spread);
  steps.reserve(recipe->steps.size());
  for (size_t i = 0; i < recipe->steps.size(); ++i) add_step(i);
}

void PlanRun::BoundSegment::add_step(size_t i) {
  const Step& step = run.plan_.steps[recipe->begin + i];
  const PlacedStep& placed = recipe->steps[i];
  const StepViews& range = ranges_[i];
  for (const PlacedValue& p : placed.outputs) {
    if (p.place == PlacedValue::Place::Arena) {
      run.cell(p.value).view = {p.dtype, p.dims, nullptr};
      placed_[p.value] = &p;
    }
    if (p.place == PlacedValue::Place::Output) outputs.emplace_back(&p, recipe->begin + i);
  }
  const bool is_plain = placed.kind == PlacedStep::Kind::Plain;
  const StepSpans all = spans(i);
  const bool spreads = !placed.spread.empty();
  const std::span inputs = spreads ? std::span(spread_views_).subspan(range.first_spread, range.inputs) : all.inputs;
  const std::span outs =
      spreads ? std::span(spread_views_).subspan(range.first_spread + range.inputs, range.outputs) : all.outputs;
  steps.push_back({placed.kernel.variant->run, is_plain && !spreads && placed.dead.empty(), placed.flushes_subnormals,
                   KernelContext(step.params, inputs, all.boxed, outs, *run.services_)});
  steps.back().context.set_state(placed.kernel.state.data.get());
  if (!is_plain) return;

  const auto use = [&](size_t view, PlanValueId v) {
    if (v == kNoValue) return;
    if (const auto at = placed_.find(v); at != placed_.end()) {
      views_[view] = run.cell(v).view;
      in_arena_.push_back({view, at->second});
    } else if (run.plan_.values[static_cast<size_t>(v)].storage == Storage::Slot) {
      of_slots_.push_back({view, v});
    } else {
      from_outside_.push_back({view, v});
    }
  };
  for (size_t k = 0; k < range.inputs; ++k) use(range.first_input + k, step.inputs[k]);
  for (size_t k = 0; k < range.outputs; ++k) use(range.first_input + range.inputs + k, step.outputs[k]);
}

void PlanRun::BoundSegment::use_arena(std::byte* memory) {
  if (arena == memory) return;
  arena = memory;
  for (const auto& [view, value] : in_arena_) views_[view].data = memory + value->offset;
  for (size_t i = 0; i < recipe->steps.size(); ++i) {
    const PlacedStep& placed = recipe->steps[i];
    for (const PlacedValue& p : placed.outputs)
      if (p.place == PlacedValue::Place::Arena) run.cell(p.value).view = {p.dtype, dims_of(p), memory + p.offset};
    if (const int64_t bytes = placed.kernel.state.scratch_bytes; bytes > 0)
      steps[i].context.set_scratch(memory + placed.scratch_offset, bytes);
  }
}

void PlanRun::BoundSegment::use_shapes(std::shared_ptr<const SegmentShapes> now) {
  if (shapes == now) return;
  // The views still point into the ones before.
  const auto before = std::exchange(shapes, std::move(now));
  for (const auto& [view, value] : in_arena_) views_[view].dims = dims_of(*value);
  for (const auto& [v, value] : placed_) run.cell(v).view.dims = dims_of(*value);
}

bool PlanRun::BoundSegment::use_shapes_of(const std::vector<int64_t>& inputs) {
  const auto it = std::ranges::find(remembered_, inputs, [](const auto& entry) -> const auto& { return entry.first; });
  if (it == remembered_.end()) return false;
  use_shapes(it->second);
  return true;
}

void PlanRun::BoundSegment::remember_shapes(const std::vector<int64_t>& inputs) {
  constexpr size_t kMost = 16;
  if (remembered_.size() < kMost) {
    remembered_.emplace_back(inputs, shapes);
    return;
  }
  remembered_[next_to_forget_++ % kMost] = {inputs, shapes};
}

void PlanRun::BoundSegment::use_values(uint64_t slots_filled) {
  if (slots_filled_ != slots_filled)
    for (const auto& [view, value] : of_slots_) views_[view] = run.cell(value).view;
  slots_filled_ = slots_filled;
  for (const auto& [view, value] : from_outside_) views_[view] = run.cell(value).view;
}

StepSpans PlanRun::BoundSegment::spans(size_t i) {
  const StepViews& range = ranges_[i];
  return {std::span(views_).subspan(range.first_input, range.inputs),
          std::span(views_).subspan(range.first_input + range.inputs, range.outputs),
          std::span(boxed_).subspan(range.first_input, range.inputs)};
}

Status PlanRun::BoundSegment::gather_views(size_t i) {
  const Step& step = run.plan_.steps[recipe->begin + i];
  const StepSpans all = spans(i);
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    const PlanValueId v = step.inputs[k];
    if (v == kNoValue) continue;
    const Cell& c = run.cell(v);
    if (!c.ready())
      return error(Code::Internal, "input '{}' has no value", run.plan_.values[static_cast<size_t>(v)].name);
    all.inputs[k] = c.view;
    all.boxed[k] = c.view.dtype == DType::Undefined ? c.value() : nullptr;
  }
  for (size_t k = 0; k < step.outputs.size(); ++k)
    all.outputs[k] = step.outputs[k] == kNoValue ? TensorView{} : run.cell(step.outputs[k]).view;
  return {};
}

Status PlanRun::BoundSegment::run_spread(size_t i, KernelServices& services) {
  const StepViews& range = ranges_[i];
  const std::span packed = std::span(views_).subspan(range.first_input, range.inputs + range.outputs);
  const std::span spread = std::span(spread_views_).subspan(range.first_spread, packed.size());
  std::ranges::copy(packed, spread.begin());
  const auto place = [&](const SpreadValue& value) { return value.position + (value.is_output ? range.inputs : 0); };
  for (const SpreadValue& value : recipe->steps[i].spread) {
    spread[place(value)].data = arena + value.offset;
    if (!value.is_output) TN_RETURN_IF_ERROR(unpack_elements(packed[place(value)], spread[place(value)], services));
  }
  TN_RETURN_IF_ERROR(steps[i].kernel(steps[i].context));
  for (const SpreadValue& value : recipe->steps[i].spread)
    if (value.is_output) TN_RETURN_IF_ERROR(pack_elements(spread[place(value)], packed[place(value)], services));
  return {};
}

std::unique_ptr<PlanRun>& PlanRun::BoundSegment::body_run(size_t step, size_t body) {
  if (bodies_.empty()) bodies_.resize(steps.size());
  auto& of_step = bodies_[step];
  if (of_step.size() <= body) of_step.resize(body + 1);
  return of_step[body];
}

}  // namespace tenon
