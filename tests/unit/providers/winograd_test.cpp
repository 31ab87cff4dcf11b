// Convolutions at the points of Winograd tiles, against plain ones and within what rounding on the way can make.
#include "providers/winograd.h"

#include <array>

#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

// Of two spatial axes or three.
struct Case {
  std::vector<int64_t> x, w;
  std::vector<int64_t> pads{0, 0, 0, 0};
};

ConvParams conv_of(const Case& t) { return {.window = {.kernel_shape = {t.w.begin() + 2, t.w.end()}, .pads = t.pads}}; }

Tensor pack(const std::string& provider, PackedLayout layout, const Tensor& w, const Tensor& scale = {},
            ThreadPool* pool = nullptr) {
  return run_kernel(provider + "/PackPanels", OpId::PackPanels, Params::of(PackPanelsParams{.layout = layout}),
                    {w, scale}, pool);
}

Tensor convolve(const std::string& provider, const Case& t, PackedLayout layout, const std::vector<Tensor>& inputs,
                const FusedActivation& activation = {}, ThreadPool* pool = nullptr) {
  const PackedConvParams p{.conv = conv_of(t), .output_channels = t.w[0], .layout = layout, .activation = activation};
  return run_kernel(provider + "/PackedConv", OpId::PackedConv, Params::of(p), inputs, pool);
}

// matrix * from * transpose(matrix) of absolute values.
template <size_t To, size_t From>
std::array<double, To * To> magnitudes(const double (&matrix)[To][From], const std::array<double, From * From>& from) {
  std::array<double, To * To> to{};
  for (size_t i = 0; i < To; ++i)
    for (size_t j = 0; j < To; ++j)
      for (size_t k = 0; k < From; ++k)
        for (size_t l = 0; l < From; ++l)
          to[i * To + j] += std::fabs(matrix[i][k]) * std::fabs(from[k * From + l]) * std::fabs(matrix[j][l]);
  return to;
}

// How large everything is that each output is made of, by way of the points. `result` gives the shape.
template <int Outputs>
Tensor size_by_points(const Case& t, const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& result) {
  using Matrices = WinogradMatrices<Outputs>;
  constexpr int64_t kEdge = Outputs + 2;
  const size_t last = t.x.size() - 1, rank = t.x.size() - 2;
  const auto slices_of = [&](const std::vector<int64_t>& dims) { return rank == 3 ? dims[2] : 1; };
  const int64_t in_slices = slices_of(t.x), slices = slices_of(result.dims()), kernel_slices = slices_of(t.w);
  const int64_t rows = result.dims()[last - 1], columns = result.dims()[last], pad_slice = rank == 3 ? t.pads[0] : 0;
  Tensor size = noise(result.dims(), 1);
  const auto sizes = size.as_mutable<float>();
  const auto input = [&](int64_t plane, int64_t slice, int64_t row, int64_t column) {
    const bool inside =
        slice >= 0 && row >= 0 && column >= 0 && slice < in_slices && row < t.x[last - 1] && column < t.x[last];
    const int64_t at = ((plane * in_slices + slice) * t.x[last - 1] + row) * t.x[last] + column;
    return inside ? double{x.as<float>()[static_cast<size_t>(at)]} : 0.0;
  };
  const auto add_points = [&](int64_t n, int64_t o, int64_t slice, int64_t row, int64_t column,
                              std::array<double, kEdge * kEdge>& sums) {
    for (int64_t c = 0; c < t.x[1]; ++c)
      for (int64_t s = 0; s < kernel_slices; ++s) {
        std::array<double, 9> taps{};
        std::array<double, kEdge * kEdge> values{};
        for (int64_t i = 0; i < 9; ++i)
          taps[static_cast<size_t>(i)] =
              w.as<float>()[static_cast<size_t>(((o * t.x[1] + c) * kernel_slices + s) * 9 + i)];
        for (int64_t i = 0; i < kEdge * kEdge; ++i)
          values[static_cast<size_t>(i)] =
              input(n * t.x[1] + c, slice + s - pad_slice, row + i / kEdge - t.pads[rank - 2],
                    column + i % kEdge - t.pads[rank - 1]);
        const auto filter = magnitudes(Matrices::kFilter, taps);
        const auto points = magnitudes(Matrices::kInput, values);
        for (size_t i = 0; i < sums.size(); ++i) sums[i] += filter[i] * points[i];
      }
  };
  const int64_t tile_rows = (rows + Outputs - 1) / Outputs, tile_columns = (columns + Outputs - 1) / Outputs;
  for (int64_t tile = 0; tile < t.x[0] * t.w[0] * slices * tile_rows * tile_columns; ++tile) {
    const int64_t column = tile % tile_columns * Outputs, row = tile / tile_columns % tile_rows * Outputs;
    const int64_t plane = tile / tile_columns / tile_rows, channel = plane / slices, o = channel % t.w[0];
    std::array<double, kEdge * kEdge> sums{};
    add_points(channel / t.w[0], o, plane % slices, row, column, sums);
    const auto outputs = magnitudes(Matrices::kOutput, sums);
    for (int64_t i = 0; i < std::min<int64_t>(Outputs, rows - row); ++i)
      for (int64_t j = 0; j < std::min<int64_t>(Outputs, columns - column); ++j)
        sizes[static_cast<size_t>((plane * rows + row + i) * columns + column + j)] = static_cast<float>(
            outputs[static_cast<size_t>(i * Outputs + j)] + std::fabs(bias.as<float>()[static_cast<size_t>(o)]));
  }
  return size;
}

Tensor size_by_points(PackedLayout layout, const Case& t, const Tensor& x, const Tensor& w, const Tensor& bias,
                      const Tensor& result) {
  return layout == PackedLayout::Winograd2 ? size_by_points<2>(t, x, w, bias, result)
                                           : size_by_points<4>(t, x, w, bias, result);
}

// How many products each output sums.
int64_t terms_of(const Case& t) { return t.w[1] * (t.w.size() == 5 ? t.w[2] : 1); }

// Roundings of one term on its way: of the filter, of both axes to the points and back, and of the bias.
constexpr int64_t kOnTheWay = 1 + 2 * 4 + 2 * 5 + 1;

void check(const Case& t, PackedLayout layout) {
  const Tensor x = noise(t.x, 1), w = noise(t.w, 2), bias = noise({t.w[0]}, 3);
  const Tensor expected = run_kernel("reference/Conv", OpId::Conv, Params::of(conv_of(t)), {x, w, bias});
  const Tensor size = size_by_points(layout, t, x, w, bias, expected);
  const Tensor packed = pack("reference", layout, w);
  // Computed in double, so only the filter is rounded.
  expect_near(convolve("reference", t, layout, {x, packed, bias}), expected, size, 1);
  ThreadPool pool(1);
  for_each_isa([&] {
    const Tensor alone = convolve("cpu", t, layout, {x, packed, bias});
    expect_near(alone, expected, size, terms_of(t) + kOnTheWay);
    EXPECT_TRUE(same_bits(convolve("cpu", t, layout, {x, packed, bias}, {}, &pool), alone));
  });
}

constexpr PackedLayout kLayouts[] = {PackedLayout::Winograd2, PackedLayout::Winograd4};

TEST(Winograd, TakesEveryNumberOfChannels) {
  for (const PackedLayout layout : kLayouts)
    for (const int64_t channels : {1, 15, 16, 17, 33})
      for (const int64_t outputs : {1, 15, 16, 17, 49}) {
        SCOPED_TRACE(testing::Message() << channels << " -> " << outputs);
        check({{2, channels, 5, 7}, {outputs, channels, 3, 3}, {1, 1, 1, 1}}, layout);
        if (testing::Test::HasFatalFailure()) return;
      }
}

TEST(Winograd, TakesEveryPlane) {
  for (const PackedLayout layout : kLayouts)
    for (const int64_t height : {3, 4, 6, 9})
      for (const int64_t width : {3, 5, 8, 17, 103}) {
        SCOPED_TRACE(testing::Message() << height << " x " << width);
        check({{1, 5, height, width}, {18, 5, 3, 3}, {0, 0, 0, 0}}, layout);
        check({{1, 5, height, width}, {18, 5, 3, 3}, {1, 1, 1, 1}}, layout);
        if (testing::Test::HasFatalFailure()) return;
      }
}

TEST(Winograd, TakesUnevenAndLargePads) {
  for (const PackedLayout layout : kLayouts) {
    check({{1, 3, 6, 5}, {17, 3, 3, 3}, {0, 2, 1, 0}}, layout);
    check({{1, 3, 6, 5}, {17, 3, 3, 3}, {2, 0, 0, 2}}, layout);
    check({{1, 3, 2, 2}, {17, 3, 3, 3}, {9, 11, 10, 8}}, layout);
    check({{1, 3, 1, 1}, {17, 3, 3, 3}, {1, 1, 1, 1}}, layout);
  }
}

TEST(Winograd, TakesSlices) {
  for (const PackedLayout layout : kLayouts) {
    for (const int64_t channels : {1, 15, 18})
      for (const int64_t kernel : {1, 2, 3})
        for (const int64_t pad : {0, 1}) {
          SCOPED_TRACE(testing::Message() << channels << " channels, " << kernel << " slices, pad " << pad);
          const std::vector<int64_t> pads{pad, pad, 1, 0, pad, 1};
          check({{2, channels, 4, 5, 7}, {3, channels, kernel, 3, 3}, pads}, layout);
          if (testing::Test::HasFatalFailure()) return;
        }
    // Many chunks of slices and of tiles.
    check({{1, 16, 9, 18, 26}, {16, 16, 3, 3, 3}, {1, 1, 1, 1, 1, 1}}, layout);
    check({{1, 3, 2, 6, 5}, {33, 3, 3, 3, 3}, {4, 1, 1, 5, 1, 1}}, layout);
    check({{1, 200, 3, 6, 5}, {3, 200, 3, 3, 3}, {0, 1, 1, 0, 1, 1}}, layout);
  }
}

TEST(Winograd, TakesDepthsOfManyBlocks) {
  for (const PackedLayout layout : kLayouts) check({{1, 1030, 4, 6}, {20, 1030, 3, 3}, {1, 1, 1, 1}}, layout);
}

TEST(Winograd, TakesEmptyTensors) {
  for (const PackedLayout layout : kLayouts) {
    check({{0, 3, 8, 8}, {4, 3, 3, 3}}, layout);
    check({{1, 0, 8, 8}, {4, 0, 3, 3}}, layout);
    check({{1, 3, 8, 8}, {0, 3, 3, 3}}, layout);
  }
}

TEST(Winograd, AppliesActivations) {
  const Case t{{1, 20, 9, 9}, {20, 20, 3, 3}, {1, 1, 1, 1}};
  const Tensor x = noise(t.x, 1), w = noise(t.w, 2), bias = noise({20}, 3);
  const FusedActivation clip{ActivationKind::Clip, -0.25f, 0.5f};
  for (const PackedLayout layout : kLayouts) {
    const Tensor packed = pack("reference", layout, w);
    const Tensor expected = convolve("reference", t, layout, {x, packed, bias}, clip);
    const Tensor size = size_by_points(layout, t, x, w, bias, expected);
    for_each_isa(
        [&] { expect_near(convolve("cpu", t, layout, {x, packed, bias}, clip), expected, size, 20 + kOnTheWay); });
  }
}

TEST(Winograd, PacksTheSameBitsEverywhere) {
  for (const PackedLayout layout : kLayouts)
    for (const auto& dims : std::vector<std::vector<int64_t>>{{1, 1, 3, 3},
                                                              {16, 3, 3, 3},
                                                              {17, 33, 3, 3},
                                                              {50, 70, 3, 3},
                                                              {160, 80, 3, 3},
                                                              {17, 33, 3, 3, 3},
                                                              {3, 5, 40, 3, 3},
                                                              {64, 96, 2, 3, 3}}) {
      const int64_t outputs = dims[0];
      const Tensor w = noise(dims, 1);
      for (const Tensor& scale : {Tensor(), noise({outputs}, 2)}) {
        const Tensor expected = pack("reference", layout, w, scale);
        ThreadPool pool(1);
        for_each_isa([&] {
          EXPECT_TRUE(same_bits(pack("cpu", layout, w, scale), expected));
          EXPECT_TRUE(same_bits(pack("cpu", layout, w, scale, &pool), expected));
        });
      }
    }
}

TEST(Winograd, PackedFiltersAreTheirValuesAtThePoints) {
  // 1 + 2a + 3a^2 by the same of the other axis: at infinity, its last coefficient alone.
  Tensor w = noise({1, 1, 3, 3}, 1);
  for (size_t i = 0; i < 9; ++i) w.as_mutable<float>()[i] = static_cast<float>((i / 3 + 1) * (i % 3 + 1));
  const double at4[] = {1.0 / 4, -(1 + 2 + 3) / 6.0, -(1 - 2 + 3) / 6.0, (1 + 4 + 12) / 24.0, (1 - 4 + 12) / 24.0, 3};
  const double at2[] = {1, 3, 1, 3};
  const auto expect = [&](PackedLayout layout, std::span<const double> at) {
    const Tensor packed = pack("reference", layout, w);
    for (size_t i = 0; i < at.size(); ++i)
      for (size_t j = 0; j < at.size(); ++j)
        EXPECT_FLOAT_EQ(packed.as<float>()[(i * at.size() + j) * 16], static_cast<float>(at[i] * at[j]));
  };
  expect(PackedLayout::Winograd4, at4);
  expect(PackedLayout::Winograd2, at2);
}

TEST(Winograd, RefusesOperandsThatDoNotFit) {
  const auto packable = [](const PackPanelsParams& p, std::vector<int64_t> w) {
    return output_dims(OpId::PackPanels, Params::of(p), {noise(std::move(w), 1)}).ok();
  };
  const PackPanelsParams four{.layout = PackedLayout::Winograd4};
  EXPECT_TRUE(packable(four, {4, 2, 3, 3}));
  EXPECT_FALSE(packable(four, {4, 2, 3, 5}));
  EXPECT_TRUE(packable(four, {4, 2, 5, 3, 3}));
  EXPECT_FALSE(packable(four, {4, 2, 3, 3, 5}));
  EXPECT_FALSE(packable(four, {4, 2, 3}));
  EXPECT_FALSE(packable({.layout = PackedLayout::Winograd4, .groups = 2}, {4, 2, 3, 3}));
  EXPECT_FALSE(packable({.source = WeightOrder::DepthFirst, .layout = PackedLayout::Winograd2}, {4, 2}));

  const Case t{{1, 2, 8, 8}, {4, 2, 3, 3}};
  const auto computable = [&](const ConvParams& conv) {
    const PackedConvParams p{.conv = conv, .output_channels = 4, .layout = PackedLayout::Winograd4};
    return output_dims(OpId::PackedConv, Params::of(p),
                       {noise(t.x, 1), pack("reference", PackedLayout::Winograd4, noise(t.w, 2))})
        .ok();
  };
  EXPECT_TRUE(computable(conv_of(t)));
  ConvParams other = conv_of(t);
  other.window.strides = {2, 2};
  EXPECT_FALSE(computable(other));
  other = conv_of(t);
  other.window.dilations = {1, 2};
  EXPECT_FALSE(computable(other));
  other = conv_of(t);
  other.group = 2;
  EXPECT_FALSE(computable(other));
  other = conv_of(t);
  other.window.kernel_shape = {3, 1};
  EXPECT_FALSE(computable(other));
}

}  // namespace
}  // namespace tenon::test
