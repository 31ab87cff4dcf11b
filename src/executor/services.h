#pragma once

#include <thread>

#include "executor/plan_run.h"

namespace tenon {

// What a kernel can ask of the run it is part of.
class RunServices final : public KernelServices {
 public:
  explicit RunServices(PlanRun& run) : run_(run) {}
  // Before each run: only the thread that runs the plan asks its caller whether to go on; the others see the answer.
  void begin() { caller_ = std::this_thread::get_id(); }

  Result<TensorView> allocate_output(size_t i, std::vector<int64_t> dims) override;
  void set_output(size_t i, Value value) override;
  Result<Value> take_input(size_t i) override;
  Result<std::vector<Value>> run_body(size_t body, std::vector<Value> inputs) override;
  size_t body_input_count(size_t body) override;
  Type body_output_type(size_t body, size_t output) override;
  Status check_cancelled() override;
  const std::shared_ptr<MemoryBudget>& budget() override;
  uint64_t random_stream() override;
  void note_not_finite() override;
  Status count_iterations(int64_t count) override;
  int threads() override;
  void parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body) override;

 private:
  const Step& step() const;

  PlanRun& run_;
  std::thread::id caller_;
};

}  // namespace tenon
