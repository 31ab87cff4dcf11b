#pragma once

// Runs plans that tests write by hand, without a session.
#include <gtest/gtest.h>

#include "executor/executor.h"
#include "swap/weight_program.h"

namespace tenon::test {

// A plan that is ready to run, with slots that tests fill.
class HandMadeRun {
 public:
  explicit HandMadeRun(Plan plan, std::vector<Tensor> slots = {})
      : plan_(std::move(plan)), slots_(std::make_shared<std::vector<Tensor>>(std::move(slots))) {
    auto prepared = PreparedPlan::make(plan_, {});
    EXPECT_TRUE(prepared.ok()) << prepared.status().to_string();
    if (prepared.ok()) prepared_ = std::move(*prepared);
  }

  void set_slots(std::vector<Tensor> slots) {
    slots_ = std::make_shared<std::vector<Tensor>>(std::move(slots));
    ++number_;
  }

  Result<std::vector<Tensor>> try_run(const std::vector<Tensor>& inputs) {
    std::vector<Value> values(inputs.begin(), inputs.end());
    std::vector<const Value*> pointers;
    for (const Value& value : values) pointers.push_back(&value);
    std::vector<Value> results(prepared_->plan().outputs.size());
    RunState state;
    state.slots = slots_;
    state.slots_number = number_;
    state.budget = budget_;
    state.limits = &limits_;
    TN_RETURN_IF_ERROR(run_plan(*prepared_, state, arenas_, pointers, {}, results));
    std::vector<Tensor> tensors;
    for (const Value& value : results) tensors.push_back(*value.tensor());
    return tensors;
  }
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    auto results = try_run(inputs);
    EXPECT_TRUE(results.ok()) << results.status().to_string();
    return results.ok() ? *results : std::vector<Tensor>(prepared_->plan().outputs.size());
  }

  const PreparedPlan& prepared() const { return *prepared_; }

 private:
  const Plan plan_;
  std::shared_ptr<std::vector<Tensor>> slots_;
  uint64_t number_ = 1;
  Limits limits_;
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(int64_t{1} << 30);
  ArenaPool arenas_{budget_};
  std::unique_ptr<PreparedPlan> prepared_;
};

inline PlanValue arena(Shape shape, std::string name = "") {
  return {std::move(name), Type::tensor(DType::Float32, std::move(shape)), Storage::Arena, -1};
}
inline Step step(OpId op, std::string provider, std::vector<PlanValueId> inputs, std::vector<PlanValueId> outputs) {
  Step s;
  s.op = op;
  s.family = std::move(provider) + "/" + std::string(op_def(op).name);
  s.params = default_params(op);
  s.inputs = std::move(inputs);
  s.outputs = std::move(outputs);
  return s;
}
inline Tensor counted(std::vector<int64_t> dims) {
  std::vector<float> values(static_cast<size_t>(count_of(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000) + 0.5f;
  return Tensor::of<float>(std::move(dims), values);
}

}  // namespace tenon::test
