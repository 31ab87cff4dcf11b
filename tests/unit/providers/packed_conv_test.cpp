#include "ops/packed.h"
#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

struct Case {
  std::vector<int64_t> x, w;  // w: [outputs, channels of a group, kernel...]
  ConvParams conv;
  bool depthwise = false;
  bool biased = true;
};

PackedConvParams packed_params(const Case& t) {
  PackedConvParams p{.conv = t.conv, .output_channels = t.w[0]};
  p.conv.window.kernel_shape.assign(t.w.begin() + 2, t.w.end());
  if (t.depthwise) p.layout = PackedLayout::Depthwise;
  return p;
}

Tensor pack(const Case& t, const Tensor& w) {
  const PackPanelsParams p{.layout = t.depthwise ? PackedLayout::Depthwise : PackedLayout::Panels,
                           .groups = t.conv.group};
  return run_kernel("cpu/PackPanels", OpId::PackPanels, Params::of(p), {w});
}

Tensor convolve(const std::string& provider, const PackedConvParams& p, const Tensor& x, const Tensor& packed,
                const Tensor& bias, ThreadPool* pool = nullptr) {
  return run_kernel(provider + "/PackedConv", OpId::PackedConv, Params::of(p), {x, packed, bias}, pool);
}

// Against the reference kernel of Conv on the weights as they were.
void check(const Case& t) {
  const Tensor x = noise(t.x, 1), w = noise(t.w, 2), bias = t.biased ? noise({t.w[0]}, 3) : Tensor();
  auto conv = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
    return run_kernel("reference/Conv", OpId::Conv, Params::of(t.conv), {a, b, c});
  };
  const Tensor expected = conv(x, w, bias), size = conv(absolute(x), absolute(w), absolute(bias));
  const Tensor packed = pack(t, w);
  const PackedConvParams p = packed_params(t);
  const int64_t terms = t.w[0] == 0 ? 0 : w.size() / t.w[0];
  EXPECT_TRUE(same_bits(convolve("reference", p, x, packed, bias), expected));
  ThreadPool pool(1);
  for_each_isa([&] {
    const Tensor alone = convolve("cpu", p, x, packed, bias);
    expect_near(alone, expected, size, terms + 1);
    EXPECT_TRUE(same_bits(convolve("cpu", p, x, packed, bias, &pool), alone));
  });
}

ConvParams window(std::vector<int64_t> strides, std::vector<int64_t> pads, std::vector<int64_t> dilations = {},
                  int64_t group = 1) {
  return {.window = {.strides = std::move(strides), .dilations = std::move(dilations), .pads = std::move(pads)},
          .group = group};
}

TEST(PackedConv, TakesEveryNumberOfChannels) {
  for (const int64_t channels : {1, 2, 3, 16, 33})
    for (const int64_t outputs : {1, 2, 5, 15, 16, 17, 31, 33, 64, 100}) {
      SCOPED_TRACE(testing::Message() << channels << " -> " << outputs);
      check({{2, channels, 7, 9}, {outputs, channels, 3, 3}, window({}, {1, 1, 1, 1})});
      check({{1, channels, 7, 9}, {outputs, channels, 1, 1}, {}, false, false});
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(PackedConv, TakesEveryPlane) {
  for (const int64_t height : {1, 2, 5, 15})
    for (const int64_t width : {1, 2, 3, 15, 16, 17, 31, 33, 64, 100}) {
      SCOPED_TRACE(testing::Message() << height << " x " << width);
      check({{1, 5, height, width}, {18, 5, 3, 3}, window({}, {1, 1, 1, 1})});
      check({{2, 5, height, width}, {18, 5, 1, 1}, {}});
      check({{1, 5, height, width}, {18, 5, 3, 3}, window({2, 2}, {1, 1, 1, 1})});
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(PackedConv, TakesStridesDilationsAndUnevenPads) {
  check({{1, 4, 13, 17}, {20, 4, 3, 5}, window({2, 3}, {0, 1, 2, 3})});
  check({{1, 4, 13, 17}, {20, 4, 3, 3}, window({1, 2}, {2, 0, 1, 4}, {2, 3})});
  check({{1, 4, 13, 17}, {20, 4, 5, 1}, window({3, 1}, {4, 0, 0, 0}, {3, 1})});
  check({{1, 4, 13, 17}, {20, 4, 1, 1}, window({2, 2}, {})});
  check({{1, 4, 13, 17}, {20, 4, 1, 1}, window({}, {1, 2, 0, 3})});
  check({{1, 4, 3, 3}, {20, 4, 3, 3}, window({}, {9, 9, 9, 9})});
}

TEST(PackedConv, TakesBandsOfRows) {
  check({{1, 5, 40, 33}, {20, 5, 3, 3}, window({}, {1, 1, 1, 1})});
  check({{2, 40, 19, 17}, {33, 40, 3, 3}, window({}, {0, 2, 1, 0})});
  check({{1, 3, 30, 60}, {140, 3, 5, 3}, window({}, {4, 3, 0, 1}, {2, 3})});
  check({{1, 6, 1000}, {17, 6, 5}, window({}, {2, 2})});
  check({{1, 4, 900}, {16, 4, 7}, window({}, {9, 9}, {3})});
  check({{1, 3, 7, 12, 18}, {17, 3, 3, 3, 3}, window({}, {1, 1, 1, 1, 1, 1})});
  check({{1, 2, 9, 9, 20}, {5, 2, 3, 2, 3}, window({}, {2, 0, 1, 0, 1, 2}, {2, 1, 1})});
  check({{2, 8, 20, 20}, {36, 4, 3, 3}, window({}, {1, 1, 1, 1}, {}, 2)});
}

TEST(PackedConv, FollowsAutoPad) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    ConvParams conv = window({2, 2}, {});
    conv.window.auto_pad = mode;
    check({{1, 3, 12, 15}, {9, 3, 4, 3}, conv});
    conv.group = 3;
    check({{1, 3, 12, 15}, {3, 1, 4, 3}, conv, true});
  }
}

TEST(PackedConv, TakesOneTwoAndThreeAxes) {
  check({{2, 6, 50}, {19, 6, 5}, window({2}, {2, 1})});
  check({{1, 6, 7}, {19, 6, 7}, {}});
  check({{1, 3, 6, 7, 8}, {17, 3, 3, 2, 3}, window({1, 2, 1}, {1, 0, 1, 2, 1, 0}, {2, 1, 1})});
  check({{2, 8, 1, 1}, {40, 8, 1, 1}, {}});
  check({{3, 4, 2, 3}, {40, 4, 2, 3}, {}});
}

TEST(PackedConv, TakesDepthsOfManyBlocks) {
  check({{1, 300, 6, 8}, {40, 300, 3, 3}, window({}, {1, 1, 1, 1})});
  check({{1, 2, 900}, {20, 2, 401}, window({}, {200, 200})});
  check({{1, 700, 2, 2}, {300, 700, 2, 2}, {}});
  check({{1, 40, 20, 20}, {600, 40, 1, 1}, {}});
  check({{1, 3, 300}, {20, 3, 290}, {}});
}

TEST(PackedConv, TakesGroups) {
  check({{2, 12, 9, 8}, {30, 4, 3, 3}, window({}, {1, 1, 1, 1}, {}, 3)});
  check({{1, 8, 3, 3}, {72, 4, 3, 3}, window({}, {}, {}, 2)});
  check({{1, 6, 9, 8}, {6, 1, 3, 3}, window({}, {1, 1, 1, 1}, {}, 6)});
}

TEST(PackedConv, TakesDepthwiseConvolutions) {
  for (const int64_t size : {1, 2, 3, 7, 14, 16, 17, 33, 56}) {
    SCOPED_TRACE(size);
    check({{2, 19, size, size}, {19, 1, 3, 3}, window({}, {1, 1, 1, 1}, {}, 19), true});
    check({{1, 19, size, size}, {19, 1, 5, 5}, window({2, 2}, {2, 2, 2, 2}, {}, 19), true, false});
    if (testing::Test::HasFatalFailure()) return;
  }
  check({{1, 5, 20, 31}, {5, 1, 3, 3}, window({3, 2}, {0, 3, 2, 1}, {2, 3}, 5), true});
  check({{1, 5, 20, 31}, {15, 1, 3, 3}, window({}, {1, 1, 1, 1}, {}, 5), true});
  check({{1, 3, 5000}, {3, 1, 9}, window({}, {8, 0}, {}, 3), true});
  check({{1, 3, 4000}, {3, 1, 9}, window({4}, {3, 5}, {}, 3), true});
  check({{1, 4, 5, 6, 7}, {4, 1, 3, 3, 3}, window({1, 2, 1}, {1, 1, 1, 1, 1, 1}, {2, 1, 1}, 4), true});
  check({{1, 2, 300, 300}, {2, 1, 7, 7}, window({}, {3, 3, 3, 3}, {}, 2), true});
}

TEST(PackedConv, TakesGeometryThatNoBufferHolds) {
  const int64_t far = 1'000'000'000;
  check({{1, 2, 5}, {2, 1, 3}, window({}, {far, far}, {far}, 2), true});
  check({{1, 2, 20, 20}, {20, 2, 3, 3}, window({}, {far, far, far, far}, {far, far})});
  check({{1, 2, 3000}, {2, 1, 1500}, window({}, {}, {}, 2), true});
}

TEST(PackedConv, TakesEmptyTensors) {
  check({{0, 3, 8, 8}, {4, 3, 3, 3}, {}});
  check({{1, 0, 8, 8}, {4, 0, 3, 3}, {}});
  check({{1, 0, 3, 3}, {4, 0, 3, 3}, {}});
  check({{1, 3, 8, 8}, {0, 3, 3, 3}, {}});
}

TEST(PackedConv, AppliesActivations) {
  for (const bool depthwise : {false, true})
    for (const int64_t size : {3, 20}) {
      const int64_t group = depthwise ? 8 : 1;
      const Case t{{1, 8, size, size}, {8, 8 / group, 3, 3}, window({}, {1, 1, 1, 1}, {}, group), depthwise};
      PackedConvParams p = packed_params(t);
      p.activation = {ActivationKind::Clip, -0.25f, 0.5f};
      const Tensor x = noise(t.x, 1), packed = pack(t, noise(t.w, 2)), bias = noise({8}, 3);
      const Tensor expected = convolve("reference", p, x, packed, bias);
      Tensor ones = absolute(expected);
      for (float& v : ones.as_mutable<float>()) v = 72;
      for_each_isa([&] { expect_near(convolve("cpu", p, x, packed, bias), expected, ones, 73); });
    }
}

TEST(PackedConv, RefusesOperandsThatDoNotFit) {
  auto refused = [](const PackedConvParams& p, const std::vector<Tensor>& inputs) {
    return !output_dims(OpId::PackedConv, Params::of(p), inputs).ok();
  };
  const Case t{{1, 4, 8, 8}, {20, 4, 3, 3}, {}};
  const Tensor x = noise(t.x, 1), packed = pack(t, noise(t.w, 2));
  PackedConvParams p = packed_params(t);
  EXPECT_FALSE(refused(p, {x, packed}));
  EXPECT_TRUE(refused(p, {noise({1, 5, 8, 8}, 1), packed}));
  EXPECT_TRUE(refused(p, {noise({1, 4}, 1), packed}));
  EXPECT_TRUE(refused(p, {x, packed, noise({19}, 1)}));
  p.output_channels = 40;
  EXPECT_TRUE(refused(p, {x, packed}));
  p = packed_params(t);
  p.layout = PackedLayout::Depthwise;
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
