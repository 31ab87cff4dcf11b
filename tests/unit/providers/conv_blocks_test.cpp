// Convolutions of values in blocks, against plain ones.
#include <cmath>
#include <limits>

#include "ops/packed.h"
#include "unit/providers/blocks.h"

namespace tenon::test {
namespace {

struct Case {
  std::vector<int64_t> x, w;  // w: [outputs, channels of a group, kernel...]
  ConvParams conv;
  ActivationKind activation = ActivationKind::None;
  bool biased = true, added = false;
};

PackedLayout layout_of(const Case& t) { return t.conv.group > 1 ? PackedLayout::Depthwise : PackedLayout::Panels; }

void check(const Case& t, bool plain_input = false) {
  PackedConvParams p{.conv = t.conv, .output_channels = t.w[0], .layout = layout_of(t)};
  p.conv.window.kernel_shape.assign(t.w.begin() + 2, t.w.end());
  const Tensor x = noise(t.x, 1), w = noise(t.w, 2), bias = t.biased ? noise({t.w[0]}, 3) : Tensor();
  const Tensor packed =
      run_kernel("cpu/PackPanels", OpId::PackPanels, Params::of(PackPanelsParams{.layout = p.layout}), {w});
  const auto conv = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
    return run_kernel("reference/Conv", OpId::Conv, Params::of(t.conv), {a, b, c});
  };
  Tensor size = conv(absolute(x), absolute(w), absolute(bias));
  const Tensor addend = t.added ? noise(size.dims(), 4) : Tensor();
  for (float& v : size.as_mutable<float>()) v += t.added ? 1.0f : 0.0f;
  p.activation = {t.activation, -0.25f, 0.5f};
  std::vector<Tensor> inputs{x, packed, bias};
  Placement placement{{!plain_input}};
  if (t.added) {
    inputs = {x, packed, bias, Tensor(), Tensor(), addend};
    placement.inputs = {!plain_input, false, false, false, false, true};
  }
  const Params params = Params::of(p);
  const Tensor expected = run_kernel("reference/PackedConv", OpId::PackedConv, params, inputs);
  const std::string variant = p.layout == PackedLayout::Depthwise ? "depthwise blocks" : "blocks";
  const int64_t terms = w.size() / t.w[0];
  ThreadPool pool(1);
  for_each_isa([&] {
    const Tensor alone = run_in_blocks("cpu/PackedConv", OpId::PackedConv, params, inputs, placement, variant);
    expect_near(alone, expected, size, terms + 2);
    EXPECT_TRUE(
        same_bits(run_in_blocks("cpu/PackedConv", OpId::PackedConv, params, inputs, placement, variant, &pool), alone));
    if (p.layout == PackedLayout::Panels)
      expect_near(run_kernel("cpu/PackedConv", OpId::PackedConv, params, inputs), expected, size, terms + 2);
  });
}

ConvParams window(std::vector<int64_t> strides, std::vector<int64_t> pads, std::vector<int64_t> dilations = {},
                  int64_t group = 1) {
  return {.window = {.strides = std::move(strides), .dilations = std::move(dilations), .pads = std::move(pads)},
          .group = group};
}

TEST(ConvBlocks, TakesEveryNumberOfChannels) {
  for (const int64_t channels : {1, 3, 15, 16, 17, 40})
    for (const int64_t outputs : {1, 15, 16, 17, 33, 48, 80}) {
      SCOPED_TRACE(testing::Message() << channels << " -> " << outputs);
      for (const bool plain_input : {false, true}) {
        check({{2, channels, 7, 9}, {outputs, channels, 3, 3}, window({}, {1, 1, 1, 1})}, plain_input);
        check({{1, channels, 7, 9}, {outputs, channels, 1, 1}, {}, ActivationKind::Relu, false}, plain_input);
      }
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(ConvBlocks, TakesEveryPlane) {
  for (const int64_t height : {1, 2, 6, 23})
    for (const int64_t width : {1, 2, 5, 13, 14, 15, 29, 113, 230}) {
      SCOPED_TRACE(testing::Message() << height << " x " << width);
      check({{1, 20, height, width}, {18, 20, 3, 3}, window({}, {1, 1, 1, 1})});
      check({{2, 20, height, width}, {18, 20, 1, 1}, {}});
      check({{1, 20, height, width}, {18, 20, 1, 1}, window({2, 2}, {})});
      check({{1, 20, height, width}, {18, 20, 3, 3}, window({2, 2}, {1, 1, 1, 1})});
      check({{1, 3, height, width}, {18, 3, 3, 3}, window({2, 2}, {1, 1, 1, 1})}, true);
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(ConvBlocks, TakesAnyWindow) {
  for (const bool plain_input : {false, true}) {
    check({{1, 18, 13, 17}, {20, 18, 3, 5}, window({2, 3}, {0, 1, 2, 3})}, plain_input);
    check({{1, 18, 13, 17}, {20, 18, 3, 3}, window({1, 2}, {2, 0, 1, 4}, {2, 3})}, plain_input);
    check({{1, 4, 13, 17}, {20, 4, 5, 1}, window({3, 1}, {4, 0, 0, 0}, {3, 1})}, plain_input);
    check({{1, 4, 13, 17}, {20, 4, 1, 1}, window({}, {1, 2, 0, 3})}, plain_input);
    check({{1, 4, 3, 3}, {20, 4, 3, 3}, window({}, {9, 9, 9, 9})}, plain_input);
    check({{1, 4, 13, 17}, {20, 4, 3, 3}, {}}, plain_input);
    check({{1, 34, 40}, {19, 34, 5}, window({2}, {2, 1})}, plain_input);
    check({{1, 17, 6, 7, 8}, {17, 17, 3, 2, 3}, window({1, 2, 1}, {1, 0, 1, 2, 1, 0}, {2, 1, 1})}, plain_input);
  }
}

TEST(ConvBlocks, TakesDeepAndWideWeights) {
  check({{1, 300, 6, 8}, {40, 300, 3, 3}, window({}, {1, 1, 1, 1})});
  check({{1, 700, 3, 5}, {300, 700, 1, 1}, {}});
  check({{1, 1100, 7, 7}, {70, 1100, 1, 1}, {}, ActivationKind::Clip, true, true});
}

TEST(ConvBlocks, AddsAndActivates) {
  for (const ActivationKind kind : {ActivationKind::None, ActivationKind::Relu, ActivationKind::Clip,
                                    ActivationKind::HardSwish, ActivationKind::LeakyRelu})
    for (const bool biased : {false, true}) {
      check({{2, 20, 9, 9}, {35, 20, 3, 3}, window({}, {1, 1, 1, 1}), kind, biased, true});
      check({{2, 20, 9, 9}, {35, 20, 1, 1}, {}, kind, biased, true});
      check({{2, 35, 9, 9}, {35, 1, 3, 3}, window({}, {1, 1, 1, 1}, {}, 35), kind, biased, true});
    }
}

TEST(ConvBlocks, TakesDepthwiseConvolutions) {
  for (const int64_t size : {1, 2, 3, 7, 14, 17, 33}) {
    SCOPED_TRACE(size);
    check({{2, 19, size, size}, {19, 1, 3, 3}, window({}, {1, 1, 1, 1}, {}, 19)});
    check({{1, 32, size, size}, {32, 1, 3, 3}, window({2, 2}, {1, 1, 1, 1}, {}, 32)});
    check({{1, 19, size, size}, {19, 1, 5, 5}, window({}, {2, 2, 2, 2}, {}, 19)});
    check({{1, 19, size, size}, {19, 1, 5, 5}, window({2, 2}, {2, 2, 2, 2}, {}, 19), ActivationKind::Relu, false});
    check({{1, 19, size, size}, {19, 1, 7, 7}, window({}, {3, 3, 3, 3}, {}, 19)});
    if (testing::Test::HasFatalFailure()) return;
  }
  check({{1, 5, 20, 31}, {5, 1, 3, 3}, window({3, 2}, {0, 3, 2, 1}, {2, 3}, 5)});
  check({{1, 3, 500}, {3, 1, 9}, window({4}, {3, 5}, {}, 3)});
  check({{1, 4, 5, 6, 7}, {4, 1, 3, 3, 3}, window({1, 2, 1}, {1, 1, 1, 1, 1, 1}, {2, 1, 1}, 4)});
}

TEST(ConvBlocks, TakesDepthwiseWindowsThatReachOutside) {
  for (const int64_t kernel : {3, 5})
    for (const int64_t stride : {1, 2})
      for (const auto& [left, right] : {std::array<int64_t, 2>{0, 0}, {0, 2}, {2, 0}, {4, 1}, {1, 4}, {6, 7}})
        for (const int64_t width : {1, 4, 5, 8, 9, 18, 31}) {
          SCOPED_TRACE(testing::Message()
                       << kernel << " by " << stride << " over " << left << " + " << width << " + " << right);
          if (left + width + right < kernel) continue;
          check({{1, 17, 6, width}, {17, 1, 3, kernel}, window({1, stride}, {1, left, 1, right}, {}, 17)});
          if (testing::Test::HasFatalFailure()) return;
        }
}

TEST(ConvBlocks, KeepsNotANumber) {
  std::vector<float> elements(16 * 81, 1.0f);
  for (size_t i = 0; i < elements.size(); i += 81) elements[i] = std::nanf("");
  const Tensor x = Tensor::of<float>({1, 16, 9, 9}, elements);
  for (const ActivationKind kind : {ActivationKind::Relu, ActivationKind::Clip, ActivationKind::HardSwish})
    for (const int64_t group : {1, 16}) {
      PackedConvParams p{.conv = window({}, {}, {}, group), .output_channels = 16, .activation = {kind, -0.25f, 0.5f}};
      p.conv.window.kernel_shape = {1, 1};
      if (group > 1) p.layout = PackedLayout::Depthwise;
      const Tensor packed =
          run_kernel("cpu/PackPanels", OpId::PackPanels, Params::of(PackPanelsParams{.layout = p.layout}),
                     {noise({16, 16 / group, 1, 1}, 2)});
      for_each_isa([&] {
        const Tensor y = run_in_blocks("cpu/PackedConv", OpId::PackedConv, Params::of(p), {x, packed}, {{true}},
                                       group > 1 ? "depthwise blocks" : "blocks");
        for (size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(std::isnan(y.as<float>()[i]), i % 81 == 0) << i;
      });
    }
}

// Sums that are exact: what is left is the activation alone.
TEST(ConvBlocks, HardSwishIsExactWhereItIsSmall) {
  std::vector<float> elements(16 * 81);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = -3.0f + 1e-4f * static_cast<float>(i);
  const Tensor x = Tensor::of<float>({1, 16, 9, 9}, elements);
  PackedConvParams p{.conv = window({}, {}, {}, 16),
                     .output_channels = 16,
                     .layout = PackedLayout::Depthwise,
                     .activation = {ActivationKind::HardSwish, 0, 0}};
  p.conv.window.kernel_shape = {1, 1};
  const Tensor packed = run_kernel("cpu/PackPanels", OpId::PackPanels, Params::of(PackPanelsParams{.layout = p.layout}),
                                   {Tensor::of<float>({16, 1, 1, 1}, std::vector<float>(16, 1.0f))});
  for_each_isa([&] {
    const Tensor y =
        run_in_blocks("cpu/PackedConv", OpId::PackedConv, Params::of(p), {x, packed}, {{true}}, "depthwise blocks");
    for (size_t i = 0; i < elements.size(); ++i) {
      const double exact = elements[i] * (elements[i] + 3.0) / 6;
      EXPECT_NEAR(y.as<float>()[i], exact, 4 * std::numeric_limits<float>::epsilon() * std::abs(exact)) << elements[i];
    }
  });
}

TEST(ConvBlocks, TakesTilesOfWinograd) {
  for (const PackedLayout layout : {PackedLayout::Winograd2, PackedLayout::Winograd4})
    for (const auto& [channels, outputs, size] : {std::array<int64_t, 3>{16, 16, 8}, {33, 20, 9}, {40, 49, 30}})
      for (const int64_t pad : {0, 1, 3})
        for (const int64_t slices : {1, 3}) {
          SCOPED_TRACE(testing::Message() << channels << " -> " << outputs << " at " << size << ", pad " << pad);
          const FusedActivation activation{slices > 1 ? ActivationKind::None : ActivationKind::Relu, 0, 0};
          PackedConvParams p{.output_channels = outputs, .layout = layout, .activation = activation};
          const int64_t extent = slices > 1 ? std::min<int64_t>(size, 9) : size;
          std::vector<int64_t> x_dims{2, channels, extent, extent}, w_dims{outputs, channels, 3, 3};
          p.conv = window({}, {pad, pad, pad, pad});
          if (slices > 1) {
            p.conv = window({}, {1, pad, pad, 0, pad, pad});
            x_dims.insert(x_dims.begin() + 2, 3);
            w_dims.insert(w_dims.begin() + 2, slices);
          }
          p.conv.window.kernel_shape.assign(w_dims.begin() + 2, w_dims.end());
          const Tensor x = noise(x_dims, 1), bias = noise({outputs}, 3);
          const Tensor packed = run_kernel("cpu/PackPanels", OpId::PackPanels,
                                           Params::of(PackPanelsParams{.layout = layout}), {noise(w_dims, 2)});
          const Params params = Params::of(p);
          const std::vector<Tensor> shaped{x, packed, bias};
          const Tensor addend = noise(*output_dims(OpId::PackedConv, params, shaped), 4);
          const std::vector<Tensor> inputs{x, packed, bias, Tensor(), Tensor(), addend};
          for_each_isa([&] {
            // Layouts change nothing but the order in which bias and addend come.
            const Tensor plain = run_kernel("cpu/PackedConv", OpId::PackedConv, params, inputs);
            Tensor size_of_sums = absolute(plain);
            for (float& v : size_of_sums.as_mutable<float>()) v += 4;
            for (const bool from : {false, true})
              for (const bool to : {false, true}) {
                if (!from && !to) continue;
                const Placement placement{{from, false, false, false, false, to}, to};
                expect_near(run_in_blocks("cpu/PackedConv", OpId::PackedConv, params, inputs, placement, "winograd"),
                            plain, size_of_sums, 2);
              }
          });
          if (testing::Test::HasFatalFailure()) return;
        }
}

}  // namespace
}  // namespace tenon::test
