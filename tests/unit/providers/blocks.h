#pragma once

// Runs kernels on values in blocks of 16 channels.
#include "unit/providers/run_kernel.h"

namespace tenon::test {

inline const ValueLayout kInBlocks{.kind = ValueLayout::Kind::Blocked16};

// Calls f(place in the plain tensor, place in blocks) for every element of a tensor [batch, channels, spatial...].
inline void for_each_in_blocks(const std::vector<int64_t>& dims, const std::function<void(size_t, size_t)>& f) {
  const int64_t plane = count_of(Dims(dims).subspan(2)), blocks = (dims[1] + kLanes - 1) / kLanes;
  for (int64_t n = 0; n < dims[0]; ++n)
    for (int64_t c = 0; c < dims[1]; ++c)
      for (int64_t i = 0; i < plane; ++i)
        f(static_cast<size_t>((n * dims[1] + c) * plane + i),
          static_cast<size_t>(((n * blocks + c / kLanes) * plane + i) * kLanes + c % kLanes));
}

// Elements of a value in blocks, with something else in the lanes of channels that are not there.
inline std::vector<float> to_blocks(const Tensor& t) {
  std::vector<float> stored(static_cast<size_t>(*stored_elements(kInBlocks, t.dims())), 1e30f);
  for_each_in_blocks(t.dims(), [&](size_t plain, size_t blocked) { stored[blocked] = t.as<float>()[plain]; });
  return stored;
}

// Which inputs are in blocks, and whether the results are.
struct Placement {
  std::vector<bool> inputs;
  bool outputs = true;
};

// The results as plain tensors. `variant`: the kernel that must have run.
inline std::vector<Tensor> run_outputs_in_blocks(const std::string& family, OpId op, const Params& params,
                                                 const std::vector<Tensor>& inputs, size_t count,
                                                 const Placement& placement, const std::string& variant,
                                                 ThreadPool* pool = nullptr) {
  std::vector<Tensor> results(count);
  auto dims = all_output_dims(op, params, inputs, count);
  EXPECT_TRUE(dims.ok()) << dims.status().to_string();
  if (!dims.ok()) return results;
  KernelRun services(pool);
  std::vector<std::vector<float>> stored, made;
  std::vector<TensorView> in, out;
  std::vector<ValueLayout> in_layouts(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back(inputs[i].defined() ? inputs[i].view() : TensorView{});
    if (i >= placement.inputs.size() || !placement.inputs[i]) continue;
    in_layouts[i] = kInBlocks;
    stored.push_back(to_blocks(inputs[i]));
    in.back().data = stored.back().data();
  }
  const std::vector<ValueLayout> out_layouts(count, placement.outputs ? kInBlocks : ValueLayout{});
  for (size_t i = 0; i < count; ++i) {
    // Whatever a kernel forgets to write shows.
    made.emplace_back(static_cast<size_t>(*stored_elements(out_layouts[i], (*dims)[i])) + 16, std::nanf(""));
    out.push_back({DType::Float32, (*dims)[i], made.back().data()});
  }
  auto bound = bind_kernel(*find_family(family), {params, in, out, isa_of_tests(), in_layouts, out_layouts});
  EXPECT_TRUE(bound.ok()) << bound.status().to_string();
  if (!bound.ok()) return results;
  EXPECT_EQ(bound->variant->name, variant);
  const std::vector<const Value*> boxed(in.size(), nullptr);
  const Status status = call_bound(*bound, *find_family(family), params, in, boxed, out, services);
  EXPECT_TRUE(status.ok()) << status.to_string();
  for (size_t i = 0; i < count; ++i) {
    std::vector<float> plain(static_cast<size_t>(count_of((*dims)[i])));
    if (placement.outputs)
      for_each_in_blocks((*dims)[i], [&](size_t to, size_t from) { plain[to] = made[i][from]; });
    else
      std::copy_n(made[i].begin(), plain.size(), plain.begin());
    results[i] = Tensor::of<float>((*dims)[i], plain);
  }
  return results;
}

// The one result.
inline Tensor run_in_blocks(const std::string& family, OpId op, const Params& params, const std::vector<Tensor>& inputs,
                            const Placement& placement, const std::string& variant, ThreadPool* pool = nullptr) {
  return run_outputs_in_blocks(family, op, params, inputs, 1, placement, variant, pool)[0];
}

}  // namespace tenon::test
