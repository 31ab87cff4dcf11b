#pragma once

// A kernel of the cpu provider next to the reference's, for outputs of any type.
#include "unit/providers/run_kernel.h"

namespace tenon::test {

struct OutputType {
  DType dtype;
  std::vector<int64_t> dims;
};

struct TypedRun {
  Status status;
  std::vector<Tensor> outputs;
};

inline TypedRun run_typed(const std::string& family, const Params& params, const std::vector<Tensor>& inputs,
                          const std::vector<OutputType>& types, ThreadPool* pool = nullptr) {
  KernelRun services(pool);
  TypedRun run;
  std::vector<TensorView> in, out;
  for (const Tensor& t : inputs) in.push_back(t.defined() ? t.view() : TensorView{});
  for (const OutputType& type : types) {
    run.outputs.push_back(*Tensor::allocate(type.dtype, type.dims, services.budget()));
    // Whatever a kernel forgets to write shows.
    std::memset(run.outputs.back().mutable_data(), 0x7f, static_cast<size_t>(run.outputs.back().bytes()));
  }
  for (const Tensor& t : run.outputs) out.push_back(t.view());
  const std::vector<const Value*> boxed(in.size(), nullptr);
  run.status = call_kernel(*find_family(family), params, in, boxed, out, services, isa_of_tests());
  return run;
}

// Calls f(run) with a run of the cpu provider for every instruction set, by one thread and by two.
inline void for_each_cpu_run(OpId op, const Params& params, const std::vector<Tensor>& inputs,
                             const std::vector<OutputType>& types, const std::function<void(const TypedRun&)>& f) {
  static ThreadPool pool(1);
  const std::string family = "cpu/" + std::string(op_def(op).name);
  for_each_isa([&] {
    f(run_typed(family, params, inputs, types));
    f(run_typed(family, params, inputs, types, &pool));
  });
}

inline TypedRun run_reference(OpId op, const Params& params, const std::vector<Tensor>& inputs,
                              const std::vector<OutputType>& types) {
  return run_typed("reference/" + std::string(op_def(op).name), params, inputs, types);
}

// The same bits, or the same error.
inline void expect_same_kernels(OpId op, const Params& params, const std::vector<Tensor>& inputs,
                                const std::vector<OutputType>& types) {
  const TypedRun expected = run_reference(op, params, inputs, types);
  for_each_cpu_run(op, params, inputs, types, [&](const TypedRun& actual) {
    ASSERT_EQ(actual.status.to_string(), expected.status.to_string());
    if (!expected.status.ok()) return;
    for (size_t i = 0; i < types.size(); ++i)
      EXPECT_TRUE(same_bits(actual.outputs[i], expected.outputs[i])) << "output " << i;
  });
}

// Elements of any type, all of whose bits differ from place to place.
inline Tensor noise_of(DType dtype, const std::vector<int64_t>& dims, uint32_t seed) {
  Tensor t = *Tensor::allocate(dtype, dims, std::make_shared<MemoryBudget>(int64_t{1} << 30));
  auto* bytes = static_cast<uint8_t*>(t.mutable_data());
  uint32_t state = seed * 2654435761u + 12345u;
  for (int64_t i = 0; i < t.bytes(); ++i) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = static_cast<uint8_t>(state >> 24);
    if (dtype == DType::Bool) bytes[i] &= 1;
  }
  return t;
}

// Indices in [-extent, extent), as int64 or int32.
inline Tensor indices_below(int64_t extent, const std::vector<int64_t>& dims, uint32_t seed,
                            DType dtype = DType::Int64) {
  std::vector<int64_t> values;
  uint32_t state = seed * 2654435761u + 12345u;
  for (int64_t i = 0; i < count_of(dims); ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(static_cast<int64_t>(state >> 8) % (2 * extent) - extent);
  }
  if (dtype == DType::Int64) return Tensor::of<int64_t>(dims, values);
  return Tensor::of<int32_t>(dims, std::vector<int32_t>(values.begin(), values.end()));
}

}  // namespace tenon::test
