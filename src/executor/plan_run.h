#pragma once

#include <span>
#include <vector>

#include "executor/bind.h"
#include "executor/executor.h"
#include "executor/run_state.h"

namespace tenon {

class RunServices;

// The values of one plan and its steps with everything resolved that stays from run to run: views, kernels, memory.
// Runs once at a time, any number of times; runs with the shapes of the one before begin at once.
class PlanRun {
 public:
  explicit PlanRun(const PreparedPlan& prepared);
  ~PlanRun();
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;

  // Whether values with these types were run the last time, late dims aside. outer: whose values the plan captures, if
  // any.
  bool fits(std::span<const Value* const> inputs, PlanRun* outer) const;

  // See run_plan. Results of a body may be shared with the run it is part of; `unshared` ones are their receiver's
  // alone.
  Status run(RunState& state, std::span<const Value* const> inputs, PlanRun* outer,
             std::span<const OutputTarget> targets, std::span<Value> results, bool unshared_results);

  // What the last run needed of its arena, bodies included.
  int64_t arena_bytes() const { return arena_bytes_; }
  void set_arena_bytes(int64_t bytes) { arena_bytes_ = bytes; }

  const PreparedPlan& prepared() const { return prepared_; }

 private:
  friend class RunServices;
  struct BoundStep;
  struct BoundSegment;

  Cell& cell(PlanValueId v) { return cells_[static_cast<size_t>(v)]; }
  void set_lent(PlanValueId v, const Value& value);
  void set_boxed(PlanValueId v, Value value);
  void set_new_tensor(PlanValueId v, Tensor tensor);
  void set_inputs(std::span<const Value* const> inputs, PlanRun* outer);
  void fill_slots();
  // Lets go of what the run held.
  void clear();
  Result<Value> lasting_copy(PlanValueId v);

  bool has_types_of(std::span<const Value* const> inputs, PlanRun* outer, bool by_class) const;
  Result<BoundSegment*> segment_at(size_t position, size_t start);
  // The same, with the shapes of this run where it has late dims.
  Result<BoundSegment*> shaped_segment(size_t position, size_t start);
  Status run_steps();
  Status place_segment(BoundSegment& segment);
  Status prepare_output(const PlacedValue& p);
  Result<Tensor> new_tensor(const PlacedValue& p);
  Status run_segment(BoundSegment& segment);
  Status run_step(BoundSegment& segment, size_t i);
  Status run_general(BoundSegment& segment, size_t i);
  void add_to_profile(BoundSegment& segment, size_t i, int64_t start, int64_t end);
  void drop(PlanValueId v);
  Status collect_outputs(std::span<Value> results);
  Result<Value> output_value(size_t index);
  const Step& hungriest_step(const Segment& segment) const;
  // The body of the step that runs.
  Result<std::vector<Value>> run_body(size_t body, const std::vector<Value>& inputs);

  const PreparedPlan& prepared_;
  const Plan& plan_;
  std::vector<Cell> cells_;
  std::vector<PlanValueId> held_;                        // cells with a value that this run holds or was lent
  std::vector<std::unique_ptr<BoundSegment>> segments_;  // of the last run, in order
  // What the last run was given, as far as it matters: dtype, rank, dims of each live input and capture.
  std::vector<int64_t> shapes_;
  bool has_shapes_ = false;
  bool same_shapes_ = false;   // as in the run before
  bool same_classes_ = false;  // the same, late dims aside
  uint64_t slots_number_ = 0;  // of the weights whose places the cells hold
  uint64_t slots_filled_ = 0;  // how often they changed
  int64_t arena_bytes_ = 0;
  std::unique_ptr<RunServices> services_;
  struct Spare {
    PlanValueId value;
    Tensor tensor;
  };
  std::vector<Spare> spares_;  // results that this run made before

  // Of the run that is under way.
  RunState* state_ = nullptr;
  std::span<const OutputTarget> targets_;
  bool is_body_ = false;
  BoundSegment* segment_ = nullptr;
  size_t step_ = 0;
  std::vector<const Value*> body_inputs_;
  std::vector<std::pair<PlanValueId, Tensor>> new_strings_;  // made for the step that runs
};

}  // namespace tenon
