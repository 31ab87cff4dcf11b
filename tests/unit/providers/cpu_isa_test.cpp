#include <gtest/gtest.h>

#include "ops/packed.h"
#include "providers/provider.h"

namespace tenon {
namespace {

TEST(CpuIsa, HasNamesForWhatTheMachineRuns) {
  ASSERT_FALSE(usable_isas().empty());
  for (const Isa isa : usable_isas()) EXPECT_EQ(isa_of_name(isa_name(isa)).value(), isa);
}

TEST(CpuIsa, RefusesWhatThereIsNot) {
  const auto refused = isa_of_name("mmx");
  EXPECT_EQ(refused.status().code(), Code::InvalidArgument);
  EXPECT_NE(refused.status().message().find(isa_name(usable_isas().front())), std::string::npos);
}

// Kernels of one process can be bound for several instruction sets.
TEST(CpuIsa, BelongsToABoundKernel) {
  const int64_t x[] = {1, 3}, w[] = {1, 1, 3, 16}, y[] = {1, 2};
  const TensorView inputs[] = {{DType::Float32, x}, {DType::Float32, w}}, outputs[] = {{DType::Float32, y}};
  const Params params = Params::of(PackedMatMulParams{.columns = {2}, .k = 3});
  std::vector<std::shared_ptr<const void>> states;
  for (const Isa isa : usable_isas()) {
    const auto bound = bind_kernel(*find_family("cpu/PackedMatMul"), {params, inputs, outputs, isa});
    ASSERT_TRUE(bound.ok());
    EXPECT_GT(bound->state.scratch_bytes, 0);
    for (const auto& other : states) EXPECT_NE(bound->state.data, other);
    states.push_back(bound->state.data);
  }
}

// Every refusal says why.
TEST(Variants, SayWhyTheyDoNotRunAStep) {
  const int64_t x[] = {1, 3, 19, 19}, w[] = {1, 1, 27, 16}, y[] = {1, 4, 17, 17};
  const TensorView inputs[] = {{DType::Float32, x}, {DType::Float32, w}}, outputs[] = {{DType::Float32, y}};
  PackedConvParams p{.output_channels = 4};
  p.conv.window = {.kernel_shape = {3, 3}, .strides = {1, 1}, .pads = {0, 0, 0, 0}};
  std::vector<Refusal> refusals;
  const auto bound =
      bind_kernel(*find_family("cpu/PackedConv"), {Params::of(p), inputs, outputs, usable_isas().front()}, &refusals);
  ASSERT_TRUE(bound.ok()) << bound.status().to_string();
  EXPECT_EQ(bound->variant->name, "bands");
  ASSERT_EQ(refusals.size(), 3u);
  EXPECT_EQ(refusals[0].variant, "depthwise");
  EXPECT_EQ(refusals[1].reason, "its weights are packed as panels16");
  EXPECT_EQ(refusals[2].reason, "it has 289 output positions; this kernel takes at most 256");
}

}  // namespace
}  // namespace tenon
