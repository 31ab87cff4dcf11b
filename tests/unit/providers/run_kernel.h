#pragma once

// Runs one kernel of a family as a step of a plan would: its rule gives the output's shape.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>

#include "base/thread_pool.h"
#include "ops/infer.h"
#include "providers/provider.h"

namespace tenon::test {

class NoKnowledge final : public InferKnowledge {
 public:
  std::optional<std::vector<Dim>> values(size_t) override { return std::nullopt; }
  std::optional<std::vector<Dim>> propagated(size_t) override { return std::nullopt; }
  const Tensor* constant(size_t) override { return nullptr; }
  Dim fresh_symbol() override { return Dim::symbol("fresh"); }
  Result<std::vector<Type>> infer_body(size_t, std::vector<Type>) override { return std::vector<Type>{}; }
};

class KernelRun final : public KernelServices {
 public:
  explicit KernelRun(ThreadPool* pool, int64_t memory_limit = int64_t{4} << 30)
      : pool_(pool), budget_(std::make_shared<MemoryBudget>(memory_limit)) {}
  Result<TensorView> allocate_output(size_t, std::vector<int64_t>) override { return none(); }
  void set_output(size_t, Value) override {}
  Result<Value> take_input(size_t) override { return none(); }
  Result<std::vector<Value>> run_body(size_t, std::vector<Value>) override { return none(); }
  size_t body_input_count(size_t) override { return 0; }
  Type body_output_type(size_t, size_t) override { return {}; }
  Status check_cancelled() override { return {}; }
  const std::shared_ptr<MemoryBudget>& budget() override { return budget_; }
  uint64_t random_stream() override { return 0; }
  Status count_iterations(int64_t) override { return {}; }
  void note_not_finite() override { not_finite = true; }
  int threads() override { return pool_ ? pool_->workers() + 1 : 1; }
  void parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body) override {
    if (pool_) return pool_->parallel_for(chunks, body);
    KernelServices::parallel_for(chunks, body);
  }
  std::atomic<bool> not_finite{false};

 private:
  static Status none() { return error(Code::Internal, "not in this test"); }
  ThreadPool* pool_;
  std::shared_ptr<MemoryBudget> budget_;
};

// Undefined tensors are absent inputs.
inline Result<std::vector<int64_t>> output_dims(OpId op, const Params& params, const std::vector<Tensor>& inputs) {
  std::vector<Type> types;
  for (const Tensor& t : inputs) types.push_back(Type::tensor(t.dtype(), to_shape(t.dims())));
  std::vector<const Type*> pointers;
  for (size_t i = 0; i < inputs.size(); ++i) pointers.push_back(inputs[i].defined() ? &types[i] : nullptr);
  NoKnowledge knowledge;
  InferContext context(op, params, pointers, 1, knowledge);
  TN_RETURN_IF_ERROR(infer_op(context));
  std::vector<int64_t> dims;
  for (const Dim& d : *context.outputs()[0].shape) dims.push_back(d.value());
  return dims;
}

// What run_kernel uses at most.
inline Isa& isa_of_tests() {
  static Isa isa = usable_isas().front();
  return isa;
}

// Calls f with every instruction set of this machine in force.
inline void for_each_isa(const std::function<void()>& f) {
  const Isa best = isa_of_tests();
  for (const Isa isa : usable_isas()) {
    SCOPED_TRACE(std::string(isa_name(isa)));
    isa_of_tests() = isa;
    f();
  }
  isa_of_tests() = best;
}

inline Tensor run_kernel(const std::string& family, OpId op, const Params& params, const std::vector<Tensor>& inputs,
                         ThreadPool* pool = nullptr) {
  auto dims = output_dims(op, params, inputs);
  EXPECT_TRUE(dims.ok()) << dims.status().to_string();
  if (!dims.ok()) return {};
  KernelRun services(pool);
  auto output = Tensor::allocate(DType::Float32, *dims, services.budget());
  EXPECT_TRUE(output.ok());
  // Whatever a kernel forgets to write shows.
  for (float& x : output->as_mutable<float>()) x = std::nanf("");
  std::vector<TensorView> in, out{output->view()};
  for (const Tensor& t : inputs) in.push_back(t.defined() ? t.view() : TensorView{});
  const std::vector<const Value*> boxed(in.size(), nullptr);
  const Status status = call_kernel(*find_family(family), params, in, boxed, out, services, isa_of_tests());
  EXPECT_TRUE(status.ok()) << status.to_string();
  return *output;
}

// Numbers in (-1, 1) that differ from place to place; the same on every machine.
inline Tensor noise(std::vector<int64_t> dims, uint32_t seed) {
  std::vector<float> values(static_cast<size_t>(count_of(dims)));
  uint32_t state = seed * 2654435761u + 12345u;
  for (float& v : values) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<int32_t>(state) >> 8) / 8388608.0f;
  }
  return Tensor::of<float>(std::move(dims), values);
}

inline Tensor absolute(const Tensor& t) {
  if (!t.defined()) return {};
  std::vector<float> values;
  for (const float x : t.as<float>()) values.push_back(std::fabs(x));
  return Tensor::of<float>(t.dims(), values);
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dims() == b.dims() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())) == 0);
}

// Sums of `terms` products whose absolute values add up to `size` may differ by a rounding of each partial sum.
inline void expect_near(const Tensor& actual, const Tensor& expected, const Tensor& size, int64_t terms) {
  ASSERT_EQ(actual.dims(), expected.dims());
  const double unit = std::ldexp(1.0, -24);
  for (size_t i = 0; i < actual.as<float>().size(); ++i) {
    const double tolerance = unit * static_cast<double>(terms + 2) * size.as<float>()[i];
    const double difference = std::fabs(double{actual.as<float>()[i]} - double{expected.as<float>()[i]});
    ASSERT_LE(difference, tolerance) << "element " << i << ": " << actual.as<float>()[i] << " instead of "
                                     << expected.as<float>()[i];
  }
}

}  // namespace tenon::test
