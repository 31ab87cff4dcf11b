#include "ops/packed.h"
#include "unit/providers/blocks.h"

namespace tenon::test {
namespace {

struct Case {
  std::vector<int64_t> x, w;  // w: [channels, outputs of a group, kernel...]
  ConvTransposeParams conv;
  bool biased = true;
  int64_t outputs() const { return w[1] * conv.group; }
};

PackedConvTransposeParams packed_params(const Case& t) {
  PackedConvTransposeParams p{.conv = t.conv, .output_channels = t.outputs()};
  p.conv.window.kernel_shape.assign(t.w.begin() + 2, t.w.end());
  return p;
}

Tensor pack(const Case& t, const Tensor& w) {
  const PackPanelsParams p{.source = WeightOrder::InputsFirst, .groups = t.conv.group};
  return run_kernel("cpu/PackPanels", OpId::PackPanels, Params::of(p), {w});
}

Tensor convolve(const std::string& provider, const PackedConvTransposeParams& p, const Tensor& x, const Tensor& packed,
                const Tensor& bias, ThreadPool* pool = nullptr) {
  return run_kernel(provider + "/PackedConvTranspose", OpId::PackedConvTranspose, Params::of(p), {x, packed, bias},
                    pool);
}

// Against the reference kernel of ConvTranspose on the weights as they were.
void check(const Case& t) {
  const Tensor x = noise(t.x, 1), w = noise(t.w, 2), bias = t.biased ? noise({t.outputs()}, 3) : Tensor();
  auto conv = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
    return run_kernel("reference/ConvTranspose", OpId::ConvTranspose, Params::of(t.conv), {a, b, c});
  };
  const Tensor expected = conv(x, w, bias), size = conv(absolute(x), absolute(w), absolute(bias));
  const Tensor packed = pack(t, w);
  const PackedConvTransposeParams p = packed_params(t);
  const int64_t terms = t.w[1] == 0 ? 0 : w.size() / t.w[1];
  EXPECT_TRUE(same_bits(convolve("reference", p, x, packed, bias), expected));
  ThreadPool pool(1);
  for_each_isa([&] {
    const Tensor alone = convolve("cpu", p, x, packed, bias);
    expect_near(alone, expected, size, terms + 1);
    EXPECT_TRUE(same_bits(convolve("cpu", p, x, packed, bias, &pool), alone));
    if (t.conv.group > 1 || t.w[0] == 0 || expected.size() == 0) return;
    const auto in_blocks = [&](ThreadPool* threads) {
      return run_in_blocks("cpu/PackedConvTranspose", OpId::PackedConvTranspose, Params::of(p), {x, packed, bias},
                           {{true}}, "blocks", threads);
    };
    const Tensor blocked = in_blocks(nullptr);
    expect_near(blocked, expected, size, terms + 1);
    EXPECT_TRUE(same_bits(in_blocks(&pool), blocked));
  });
}

ConvTransposeParams window(std::vector<int64_t> strides, std::vector<int64_t> pads, std::vector<int64_t> dilations = {},
                           int64_t group = 1) {
  return {.window = {.strides = std::move(strides), .dilations = std::move(dilations), .pads = std::move(pads)},
          .group = group};
}

TEST(PackedConvTranspose, TakesEveryNumberOfChannels) {
  for (const int64_t channels : {1, 3, 16, 33})
    for (const int64_t outputs : {1, 2, 5, 15, 16, 17, 33, 100}) {
      SCOPED_TRACE(testing::Message() << channels << " -> " << outputs);
      check({{2, channels, 5, 7}, {channels, outputs, 2, 2}, window({2, 2}, {})});
      check({{1, channels, 5, 7}, {channels, outputs, 4, 4}, window({2, 2}, {1, 1, 1, 1}), false});
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(PackedConvTranspose, TakesEveryPlane) {
  for (const int64_t height : {1, 2, 5})
    for (const int64_t width : {1, 2, 3, 15, 16, 17, 33, 100}) {
      SCOPED_TRACE(testing::Message() << height << " x " << width);
      check({{1, 5, height, width}, {5, 18, 2, 2}, window({2, 2}, {})});
      check({{2, 5, height, width}, {5, 18, 3, 3}, window({2, 2}, {1, 1, 0, 0})});
      check({{1, 5, height, width}, {5, 18, 3, 3}, window({}, {1, 1, 1, 1})});
      if (testing::Test::HasFatalFailure()) return;
    }
}

// Every number of phases, with more, fewer and as many taps; outputs end before, at and after a whole step.
TEST(PackedConvTranspose, TakesEveryStride) {
  for (const int64_t stride : {1, 2, 3, 4, 5, 8, 9})
    for (const int64_t kernel : {int64_t{1}, int64_t{2}, stride, stride + 1, 2 * stride, 2 * stride + 3})
      for (int64_t pad = 0; pad < std::min<int64_t>(kernel, 3); ++pad) {
        SCOPED_TRACE(testing::Message() << "stride " << stride << ", kernel " << kernel << ", pad " << pad);
        check({{1, 2, 19}, {2, 17, kernel}, window({stride}, {pad, 0})});
        if (testing::Test::HasFatalFailure()) return;
      }
}

TEST(PackedConvTranspose, TakesStridesOfManyPhases) {
  check({{1, 4, 30}, {4, 2, 40}, window({20}, {10, 10})});
  check({{1, 4, 11}, {4, 2, 70}, window({33}, {5, 0})});
  check({{1, 2, 3, 4}, {2, 3, 3, 3}, window({40, 50}, {})});
}

TEST(PackedConvTranspose, TakesDilationsAndUnevenPads) {
  check({{1, 4, 9, 7}, {4, 20, 3, 5}, window({2, 3}, {0, 1, 2, 3})});
  check({{1, 4, 9, 7}, {4, 20, 3, 3}, window({1, 2}, {2, 0, 1, 4}, {2, 3})});
  check({{1, 4, 9, 7}, {4, 20, 3, 3}, window({4, 2}, {0, 3, 1, 0}, {2, 4})});
  check({{1, 4, 9, 7}, {4, 20, 5, 1}, window({3, 1}, {4, 0, 0, 0}, {3, 1})});
}

TEST(PackedConvTranspose, FollowsOutputPaddingAutoPadAndOutputShape) {
  ConvTransposeParams padded = window({2, 3}, {1, 1, 1, 1});
  padded.output_padding = {1, 2};
  check({{1, 3, 6, 5}, {3, 9, 3, 4}, padded});
  ConvTransposeParams shaped = window({2, 3}, {});
  shaped.output_shape = {17, 14};
  check({{1, 3, 6, 5}, {3, 9, 3, 4}, shaped});
  shaped.output_shape = {9, 11};
  check({{1, 3, 6, 5}, {3, 9, 3, 4}, shaped});
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    ConvTransposeParams conv = window({2, 3}, {});
    conv.window.auto_pad = mode;
    check({{1, 3, 6, 5}, {3, 9, 3, 4}, conv});
    check({{1, 3, 6, 5}, {3, 9, 4, 2}, conv});
  }
}

TEST(PackedConvTranspose, TakesOneTwoAndThreeAxes) {
  check({{2, 6, 50}, {6, 19, 16}, window({8}, {4, 4})});
  check({{1, 3, 4, 5, 6}, {3, 17, 2, 2, 2}, window({2, 2, 2}, {})});
  check({{2, 3, 4, 5, 6}, {3, 17, 3, 2, 3}, window({1, 2, 3}, {1, 0, 1, 2, 1, 0}, {2, 1, 1})});
  check({{2, 8, 1, 1}, {8, 40, 4, 4}, {}});
}

TEST(PackedConvTranspose, TakesDepthsOfManyBlocks) {
  check({{1, 300, 6, 8}, {300, 40, 2, 2}, window({2, 2}, {})});
  check({{1, 210, 6, 8}, {210, 20, 4, 4}, window({2, 2}, {1, 1, 1, 1})});
  check({{1, 2, 90}, {2, 20, 401}, window({}, {200, 200})});
  check({{1, 20, 90}, {20, 20, 101}, window({}, {50, 50})});
  check({{1, 40, 20, 20}, {40, 600, 1, 1}, {}});
}

TEST(PackedConvTranspose, TakesGroups) {
  check({{2, 12, 9, 8}, {12, 10, 3, 3}, window({2, 2}, {1, 1, 1, 1}, {}, 3)});
  check({{1, 8, 3, 3}, {8, 36, 3, 3}, window({}, {}, {}, 2)});
  check({{1, 6, 9, 8}, {6, 1, 4, 4}, window({2, 2}, {1, 1, 1, 1}, {}, 6)});
}

TEST(PackedConvTranspose, TakesEmptyTensors) {
  check({{0, 3, 8, 8}, {3, 4, 3, 3}, {}});
  check({{1, 0, 8, 8}, {0, 4, 3, 3}, {}});
  check({{1, 3, 8, 8}, {3, 0, 3, 3}, {}});
}

TEST(PackedConvTranspose, AppliesActivations) {
  const Case t{{1, 8, 9, 11}, {8, 7, 2, 2}, window({2, 2}, {})};
  PackedConvTransposeParams p = packed_params(t);
  const Tensor x = noise(t.x, 1), packed = pack(t, noise(t.w, 2)), bias = noise({7}, 3);
  for (const ActivationKind kind : {ActivationKind::Clip, ActivationKind::HardSwish}) {
    p.activation = {kind, -0.25f, 0.5f};
    const Tensor expected = convolve("reference", p, x, packed, bias);
    Tensor ones = absolute(expected);
    for (float& v : ones.as_mutable<float>()) v = 9;
    for_each_isa([&] {
      expect_near(convolve("cpu", p, x, packed, bias), expected, ones, 10);
      expect_near(run_in_blocks("cpu/PackedConvTranspose", OpId::PackedConvTranspose, Params::of(p), {x, packed, bias},
                                {{true}}, "blocks"),
                  expected, ones, 10);
    });
  }
}

// What a table of phases would be too large for runs all the same.
TEST(PackedConvTranspose, LeavesHugeStridesToThePlainKernel) {
  const int64_t x[] = {1, 1, 3, 3}, w[] = {1, 1, 1, 16}, y[] = {1, 1, 200'001, 200'001};
  const TensorView inputs[] = {{DType::Float32, x}, {DType::Float32, w}}, outputs[] = {{DType::Float32, y}};
  PackedConvTransposeParams p{.output_channels = 1};
  p.conv.window = {.kernel_shape = {1, 1}, .strides = {100'000, 100'000}};
  std::vector<Refusal> refusals;
  const auto bound = bind_kernel(*find_family("cpu/PackedConvTranspose"),
                                 {Params::of(p), inputs, outputs, usable_isas().front()}, &refusals);
  ASSERT_TRUE(bound.ok()) << bound.status().to_string();
  EXPECT_EQ(bound->variant->name, "plain");
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0].reason, "its strides give more than 4096 groups of output positions");
}

TEST(PackedConvTranspose, RefusesOperandsThatDoNotFit) {
  auto refused = [](const PackedConvTransposeParams& p, const std::vector<Tensor>& inputs) {
    return !output_dims(OpId::PackedConvTranspose, Params::of(p), inputs).ok();
  };
  const Case t{{1, 4, 8, 8}, {4, 20, 3, 3}, {}};
  const Tensor x = noise(t.x, 1), packed = pack(t, noise(t.w, 2));
  PackedConvTransposeParams p = packed_params(t);
  EXPECT_FALSE(refused(p, {x, packed}));
  EXPECT_TRUE(refused(p, {noise({1, 5, 8, 8}, 1), packed}));
  EXPECT_TRUE(refused(p, {noise({1, 4}, 1), packed}));
  EXPECT_TRUE(refused(p, {x, packed, noise({19}, 1)}));
  p.output_channels = 40;
  EXPECT_TRUE(refused(p, {x, packed}));
  p = packed_params(t);
  p.conv.window.kernel_shape = {};
  EXPECT_TRUE(refused(p, {x, packed}));
  p = packed_params(t);
  p.conv.group = 3;
  EXPECT_TRUE(refused(p, {x, packed}));
}

}  // namespace
}  // namespace tenon::test
