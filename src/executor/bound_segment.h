#pragma once

#include <map>

#include "executor/plan_run.h"

namespace tenon {

// The tensors of a step, as its kernel gets them.
struct StepSpans {
  std::span<TensorView> inputs, outputs;
  std::span<const Value*> boxed;  // by input
};

// A step that needs no more than a call.
struct PlanRun::BoundStep {
  KernelFunction kernel = nullptr;
  bool is_simple = false;  // nothing to do before or after the call
  bool flushes_subnormals = false;
  KernelContext context;
};

// A segment in one run's memory: the views that kernels get lie there from run to run.
struct PlanRun::BoundSegment {
  BoundSegment(PlanRun& run, std::shared_ptr<const Segment> recipe);

  // The memory of values and scratch; nothing happens when it is where it was.
  void use_arena(std::byte* memory);
  // The dims of values with late dims; nothing happens when they are those of the run before.
  void use_shapes(std::shared_ptr<const SegmentShapes> now);
  // The same for the dims that were in use with these inputs; false when they are forgotten.
  bool use_shapes_of(const std::vector<int64_t>& inputs);
  void remember_shapes(const std::vector<int64_t>& inputs);
  Dims dims_of(const PlacedValue& p) const { return shapes ? Dims((*shapes)[p.number]) : Dims(p.dims); }
  // What comes from outside: weights when they are others than before, inputs and outputs always.
  void use_values(uint64_t slots_filled);
  // A step whose values may be anywhere: takes them from their cells.
  Status gather_views(size_t step);
  StepSpans spans(size_t step);
  // A step whose kernel sees sub-byte elements one per byte.
  Status run_spread(size_t step, KernelServices& services);
  std::unique_ptr<PlanRun>& body_run(size_t step, size_t body);

  PlanRun& run;
  std::shared_ptr<const Segment> recipe;
  std::shared_ptr<const SegmentShapes> shapes;  // where it has late dims
  std::byte* arena = nullptr;
  std::vector<BoundStep> steps;
  // Values that are outputs of the plan, each with its step.
  std::vector<std::pair<const PlacedValue*, size_t>> outputs;

 private:
  struct StepViews {
    size_t first_input = 0, inputs = 0, outputs = 0;  // in views; boxed is by input
    size_t first_spread = 0;                          // in spread views
  };
  void add_step(size_t i);

  std::vector<StepViews> ranges_;
  std::vector<TensorView> views_;
  std::vector<const Value*> boxed_;
  // Copies of the views of steps with sub-byte tensors, whose tensors are elsewhere.
  std::vector<TensorView> spread_views_;
  // Where the data of a view comes from.
  struct Use {
    size_t view;
    PlanValueId value;
  };
  struct Place {
    size_t view;
    const PlacedValue* value;
  };
  std::map<PlanValueId, const PlacedValue*> placed_;  // values in the arena
  std::vector<Place> in_arena_;
  std::vector<Use> of_slots_, from_outside_;
  std::vector<std::vector<std::unique_ptr<PlanRun>>> bodies_;
  uint64_t slots_filled_ = 0;
  std::vector<std::pair<std::vector<int64_t>, std::shared_ptr<const SegmentShapes>>> remembered_;
  size_t next_to_forget_ = 0;
};

}  // namespace tenon
