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

// What kernels that fill given outputs get; none of it is asked for.
class PlainServices : public KernelServices {
 public:
  explicit PlainServices(int64_t memory_limit = int64_t{4} << 30)
      : budget_(std::make_shared<MemoryBudget>(memory_limit)) {}
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

 private:
  static Status none() { return error(Code::Internal, "not in this test"); }
  std::shared_ptr<MemoryBudget> budget_;
};

class KernelRun final : public PlainServices {
 public:
  explicit KernelRun(ThreadPool* pool, int64_t memory_limit = int64_t{4} << 30)
      : PlainServices(memory_limit), pool_(pool) {}
  void note_not_finite() override { not_finite = true; }
  int threads() override { return pool_ ? pool_->workers() + 1 : 1; }
  void parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body) override {
    if (pool_) return pool_->parallel_for(chunks, body);
    KernelServices::parallel_for(chunks, body);
  }
  std::atomic<bool> not_finite{false};

 private:
  ThreadPool* pool_;
};

// The dims of each output. Undefined tensors are absent inputs.
inline Result<std::vector<std::vector<int64_t>>> all_output_dims(OpId op, const Params& params,
                                                                 const std::vector<Tensor>& inputs, size_t outputs) {
  std::vector<Type> types;
  for (const Tensor& t : inputs) types.push_back(Type::tensor(t.dtype(), to_shape(t.dims())));
  std::vector<const Type*> pointers;
  for (size_t i = 0; i < inputs.size(); ++i) pointers.push_back(inputs[i].defined() ? &types[i] : nullptr);
  NoKnowledge knowledge;
  InferContext context(op, params, pointers, outputs, knowledge);
  TN_RETURN_IF_ERROR(infer_op(context));
  std::vector<std::vector<int64_t>> all;
  for (const Type& type : context.outputs()) {
    auto& dims = all.emplace_back();
    for (const Dim& d : *type.shape) dims.push_back(d.value());
  }
  return all;
}

// Of the one output.
inline Result<std::vector<int64_t>> output_dims(OpId op, const Params& params, const std::vector<Tensor>& inputs) {
  TN_ASSIGN_OR_RETURN(auto all, all_output_dims(op, params, inputs, 1));
  return std::move(all[0]);
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

inline std::vector<Tensor> run_kernel_outputs(const std::string& family, OpId op, const Params& params,
                                              const std::vector<Tensor>& inputs, size_t count,
                                              ThreadPool* pool = nullptr) {
  std::vector<Tensor> outputs(count);
  auto dims = all_output_dims(op, params, inputs, count);
  EXPECT_TRUE(dims.ok()) << dims.status().to_string();
  if (!dims.ok()) return outputs;
  KernelRun services(pool);
  std::vector<TensorView> in, out;
  for (size_t i = 0; i < count; ++i) {
    auto output = Tensor::allocate(DType::Float32, (*dims)[i], services.budget());
    EXPECT_TRUE(output.ok());
    outputs[i] = *output;
    // Whatever a kernel forgets to write shows.
    for (float& x : outputs[i].as_mutable<float>()) x = std::nanf("");
    out.push_back(outputs[i].view());
  }
  for (const Tensor& t : inputs) in.push_back(t.defined() ? t.view() : TensorView{});
  const std::vector<const Value*> boxed(in.size(), nullptr);
  const Status status = call_kernel(*find_family(family), params, in, boxed, out, services, isa_of_tests());
  EXPECT_TRUE(status.ok()) << status.to_string();
  return outputs;
}

inline Tensor run_kernel(const std::string& family, OpId op, const Params& params, const std::vector<Tensor>& inputs,
                         ThreadPool* pool = nullptr) {
  return run_kernel_outputs(family, op, params, inputs, 1, pool)[0];
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
