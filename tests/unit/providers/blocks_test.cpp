// Other kernels on values in blocks, against those on plain ones.
#include "unit/providers/blocks.h"

#include "ops/concat.h"
#include "ops/normalization.h"
#include "ops/pointwise.h"
#include "ops/pooling.h"
#include "ops/resize.h"
#include "ops/split.h"

namespace tenon::test {
namespace {

// The same from blocks as from plain values, up to the order of sums.
void check(const std::string& family, OpId op, const Params& params, const std::vector<Tensor>& inputs,
           const Placement& placement, const std::string& variant, int64_t terms = 0) {
  ThreadPool pool(1);
  for_each_isa([&] {
    const Tensor plain = run_kernel(family, op, params, inputs);
    const Tensor blocked = run_in_blocks(family, op, params, inputs, placement, variant);
    Tensor ones = absolute(plain);
    for (float& v : ones.as_mutable<float>()) v += 1;
    if (terms == 0)
      EXPECT_TRUE(same_bits(blocked, plain));
    else
      expect_near(blocked, plain, ones, terms);
    EXPECT_TRUE(same_bits(run_in_blocks(family, op, params, inputs, placement, variant, &pool), blocked));
  });
}

TEST(Blocks, Reorder) {
  for (const auto& dims : std::vector<std::vector<int64_t>>{
           {1, 16, 4, 4}, {2, 3, 5, 7}, {1, 40, 33}, {2, 17, 2, 3, 5}, {1, 33, 80, 90}, {3, 16, 1, 1}, {0, 4, 2, 2}}) {
    const Params none = Params::of(NoParams{});
    const Tensor x = noise(dims, 1);
    for_each_isa([&] {
      const auto reorder = [&](bool from, bool to, const char* variant) {
        return run_in_blocks("cpu/Reorder", OpId::Reorder, none, {x}, {{from}, to}, variant);
      };
      EXPECT_TRUE(same_bits(reorder(true, false, "from blocks"), x));
      EXPECT_TRUE(same_bits(reorder(false, true, "to blocks"), x));
    });
  }
}

TEST(Blocks, MaxPool) {
  for (const auto& dims : std::vector<std::vector<int64_t>>{{1, 16, 9, 9}, {2, 19, 12, 31}, {1, 35, 40}}) {
    const size_t rank = dims.size() - 2;
    MaxPoolParams p;
    p.window = {.kernel_shape = std::vector<int64_t>(rank, 3),
                .strides = std::vector<int64_t>(rank, 2),
                .pads = std::vector<int64_t>(2 * rank, 1)};
    check("cpu/MaxPool", OpId::MaxPool, Params::of(p), {noise(dims, 1)}, {{true}}, "blocks");
    p.window.strides = {};
    p.window.dilations = std::vector<int64_t>(rank, 2);
    check("cpu/MaxPool", OpId::MaxPool, Params::of(p), {noise(dims, 1)}, {{true}}, "blocks");
    p.ceil_mode = true;
    p.window.strides = std::vector<int64_t>(rank, 3);
    check("cpu/MaxPool", OpId::MaxPool, Params::of(p), {noise(dims, 1)}, {{true}}, "blocks");
  }
}

TEST(Blocks, AveragePool) {
  for (const bool include : {false, true}) {
    AveragePoolParams p;
    p.count_include_pad = include;
    p.window = {.kernel_shape = {3, 5}, .strides = {2, 1}, .pads = {1, 2, 0, 4}};
    check("cpu/AveragePool", OpId::AveragePool, Params::of(p), {noise({2, 21, 9, 14}, 1)}, {{true}}, "blocks", 15);
  }
}

TEST(Blocks, GlobalPools) {
  for (const auto& dims : std::vector<std::vector<int64_t>>{{1, 16, 9, 9}, {2, 19, 12, 31}, {1, 35, 3}, {2, 5, 1, 1}}) {
    const Params none = Params::of(NoParams{});
    check("cpu/GlobalAveragePool", OpId::GlobalAveragePool, none, {noise(dims, 1)}, {{true}, false}, "blocks", 400);
    check("cpu/GlobalMaxPool", OpId::GlobalMaxPool, none, {noise(dims, 1)}, {{true}, false}, "blocks");
  }
}

// Of numbers below 6 in size, whose normalized differences grow by at most 1 / sqrt(0.1).
void check_normalization(OpId op, const Params& params, const std::vector<Tensor>& inputs) {
  const std::string name(op_def(op).name);
  const Tensor expected = run_kernel("reference/" + name, op, params, inputs);
  Tensor size = absolute(expected);
  for (float& v : size.as_mutable<float>()) v = 12 * 3.2f + 1;
  const int64_t positions = count_of(Dims(inputs[0].dims()).subspan(2));
  // Of 4 sums over 256 positions, of joining those, and of the rest.
  const int64_t roundings = 64 + positions / 256 + 16;
  ThreadPool pool(1);
  for_each_isa([&] {
    const Tensor blocked = run_in_blocks("cpu/" + name, op, params, inputs, {{true}}, "blocks");
    expect_near(blocked, expected, size, roundings);
    EXPECT_TRUE(same_bits(run_in_blocks("cpu/" + name, op, params, inputs, {{true}}, "blocks", &pool), blocked));
  });
}

TEST(Blocks, Normalizations) {
  for (const auto& dims : std::vector<std::vector<int64_t>>{
           {1, 16, 9, 9}, {2, 24, 12, 31}, {1, 36, 3}, {1, 12, 3, 5, 7}, {2, 20, 40, 61}, {1, 8, 20000}, {0, 4, 2}}) {
    SCOPED_TRACE(testing::Message() << dims[1] << " channels");
    Tensor x = noise(dims, 1);
    // Away from zero, so that the mean matters, and differently in each channel.
    const int64_t plane = count_of(Dims(dims).subspan(2));
    for (size_t i = 0; i < x.as<float>().size(); ++i)
      x.as_mutable<float>()[i] += static_cast<float>(static_cast<int64_t>(i) / plane % dims[1] % 5);
    const std::vector<Tensor> inputs{x, noise({dims[1]}, 2), noise({dims[1]}, 3)};
    check_normalization(OpId::InstanceNormalization, Params::of(InstanceNormalizationParams{.epsilon = 0.1f}), inputs);
    for (const int64_t groups : {int64_t{1}, int64_t{4}, dims[1]}) {
      const GroupNormalizationParams p{.epsilon = 0.1f, .num_groups = groups};
      check_normalization(OpId::GroupNormalization, Params::of(p), inputs);
    }
  }
}

TEST(Blocks, Concat) {
  const Params p = Params::of(ConcatParams{1});
  const std::vector<Tensor> inputs{noise({2, 16, 5, 6}, 1), noise({2, 48, 5, 6}, 2), noise({2, 21, 5, 6}, 3)};
  check("cpu/Concat", OpId::Concat, p, inputs, {{true, true, true}}, "blocks");
}

TEST(Blocks, Split) {
  const Params p = Params::of(SplitParams{.axis = 1, .num_outputs = 3});
  // The last part is the smaller one.
  for (const int64_t channels : {48, 95}) {
    const std::vector<Tensor> inputs{noise({2, channels, 5, 6}, 1)};
    for_each_isa([&] {
      const auto plain = run_kernel_outputs("cpu/Split", OpId::Split, p, inputs, 3);
      const auto blocked = run_outputs_in_blocks("cpu/Split", OpId::Split, p, inputs, 3, {{true}}, "blocks");
      for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(blocked[i], plain[i]));
    });
  }
}

TEST(Blocks, Resize) {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const auto& [height, width] : {std::pair<float, float>{2, 2}, {1, 1.7f}, {2.5f, 1}, {0.6f, 0.4f}}) {
      ResizeParams p;
      p.mode = mode;
      const std::vector<float> scales{1, 1, height, width};
      const Tensor given = Tensor::of<float>({4}, scales);
      const std::vector<int64_t> dims{2, 21, 10, 13};
      const auto scaled = [](int64_t extent, float by) {
        return static_cast<int64_t>(std::floor(static_cast<float>(extent) * by));
      };
      const std::vector<int64_t> sizes{2, 21, scaled(10, height), scaled(13, width)};
      (void)given;
      const Tensor x = noise(dims, 1);
      // The rule asks for the elements of the scales, so the outputs are given here.
      KernelRun services(nullptr);
      const std::vector<float> stored = to_blocks(x);
      std::vector<float> plain(static_cast<size_t>(count_of(sizes))),
          blocked(static_cast<size_t>(*stored_elements(kInBlocks, sizes)));
      const Params params = Params::of(p);
      const KernelFamily& family = *find_family("cpu/Resize");
      const auto run = [&](float* from, float* to, const ValueLayout& layout) {
        const std::vector<TensorView> in{{DType::Float32, dims, from}, {}, given.view()},
            out{{DType::Float32, sizes, to}};
        const std::vector<ValueLayout> in_layouts{layout, {}, {}}, out_layouts{layout};
        auto bound = bind_kernel(family, {params, in, out, isa_of_tests(), in_layouts, out_layouts});
        ASSERT_TRUE(bound.ok()) << bound.status().to_string();
        const std::vector<const Value*> boxed(3, nullptr);
        const Status status = call_bound(*bound, family, params, in, boxed, out, services);
        ASSERT_TRUE(status.ok()) << status.to_string();
      };
      for_each_isa([&] {
        run(const_cast<float*>(x.as<float>().data()), plain.data(), {});
        run(const_cast<float*>(stored.data()), blocked.data(), kInBlocks);
        for_each_in_blocks(sizes, [&](size_t at, size_t in_blocks) {
          ASSERT_NEAR(blocked[in_blocks], plain[at], 1e-6) << mode << " " << at;
        });
      });
    }
}

// (a + b) * c, then what hard-swish does.
Params expression() {
  PointwiseParams p;
  p.add({PointwiseOp::Add, {0, 1, -1}, {0, 0}});
  p.add({PointwiseOp::Mul, {3, 2, -1}, {0, 0}});
  p.add({PointwiseOp::HardSwish, {4, -1, -1}, {0, 0}});
  p.results = {2};
  p.dtypes = {static_cast<int64_t>(DType::Float32)};
  return Params::of(p);
}

TEST(Blocks, Pointwise) {
  for (const int64_t channels : {1, 16, 19, 48})
    for (const auto& [height, width] : {std::pair<int64_t, int64_t>{1, 7}, {9, 13}, {30, 40}}) {
      SCOPED_TRACE(testing::Message() << channels << " x " << height << " x " << width);
      const std::vector<int64_t> all{2, channels, height, width};
      const Tensor a = noise(all, 1), b = noise(all, 2);
      const std::vector<std::vector<int64_t>> others{
          {2, channels, 1, 1}, {1, channels, 1, 1}, {channels, 1, 1}, {2, 1, height, width}, {1}, {}, {1, 1, 1, width}};
      for (const auto& dims : others) {
        check("cpu/Pointwise", OpId::Pointwise, expression(), {a, b, noise(dims, 3)}, {{true, true, false}}, "tiles");
        check("cpu/Pointwise", OpId::Pointwise, expression(), {noise(dims, 3), a, b}, {{false, true, true}}, "tiles");
      }
    }
}

}  // namespace
}  // namespace tenon::test
