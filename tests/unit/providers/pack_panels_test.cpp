#include "ops/packed.h"

#include <cfloat>

#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

Tensor pack(const std::string& provider, const PackPanelsParams& params, const Tensor& w, const Tensor& scale = {},
            ThreadPool* pool = nullptr) {
  return run_kernel(provider + "/PackPanels", OpId::PackPanels, Params::of(params), {w, scale}, pool);
}

// The layout as its definition has it.
std::vector<float> expected_panels(const PackPanelsParams& p, const Tensor& w, const Tensor& scale) {
  const bool kn = p.source == WeightOrder::DepthFirst, cn = p.source == WeightOrder::InputsFirst;
  const int64_t outputs = w.dims()[kn || cn ? 1 : 0] * (cn ? p.groups : 1),
                depth = outputs == 0 ? 0 : w.size() / outputs;
  const int64_t groups = p.layout == PackedLayout::Depthwise ? 1 : p.groups, columns = outputs / groups;
  std::vector<float> result;
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t panel = 0; panel * 16 < columns; ++panel)
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t n = panel * 16; n < panel * 16 + 16; ++n) {
          const int64_t output = g * columns + n;
          const bool there = n < columns;
          int64_t from = kn ? k * outputs + output : output * depth + k;
          if (cn) {
            const int64_t taps = w.size() / w.dims()[0] / w.dims()[1], channels = w.dims()[0] / groups;
            from = ((g * channels + k / taps) * columns + n) * taps + k % taps;
          }
          float x = there ? w.as<float>()[static_cast<size_t>(from)] : 0;
          if (there && scale.defined()) x *= scale.as<float>()[static_cast<size_t>(output)];
          result.push_back(x);
        }
  return result;
}

void check(const PackPanelsParams& p, const Tensor& w, const Tensor& scale) {
  const Tensor expected = pack("reference", p, w, scale);
  const auto panels = expected_panels(p, w, scale);
  const auto actual = expected.as<float>();
  ASSERT_TRUE(std::equal(panels.begin(), panels.end(), actual.begin(), actual.end()));
  ThreadPool pool(1);
  for_each_isa([&] {
    EXPECT_TRUE(same_bits(pack("cpu", p, w, scale), expected));
    EXPECT_TRUE(same_bits(pack("cpu", p, w, scale, &pool), expected));
  });
}

constexpr int64_t kSizes[] = {0, 1, 2, 3, 5, 15, 16, 17, 31, 33, 64, 100};

TEST(PackPanels, TakesMatricesOfEverySize) {
  for (const int64_t n : kSizes)
    for (const int64_t k : kSizes) {
      SCOPED_TRACE(testing::Message() << n << " x " << k);
      const Tensor scale = (n + k) % 2 ? noise({n}, 3) : Tensor();
      check({.source = WeightOrder::OutputsFirst}, noise({n, k}, 1), scale);
      check({.source = WeightOrder::DepthFirst}, noise({k, n}, 2), scale);
    }
}

TEST(PackPanels, TakesWeightsOfConvolutionsInGroups) {
  check({.source = WeightOrder::OutputsFirst, .groups = 3}, noise({3 * 17, 5, 3, 3}, 1), noise({51}, 2));
  check({.source = WeightOrder::OutputsFirst, .groups = 4}, noise({64, 2, 3}, 1), {});
  check({.source = WeightOrder::OutputsFirst, .layout = PackedLayout::Depthwise, .groups = 37}, noise({37, 1, 3, 3}, 1),
        noise({37}, 2));
  check({.source = WeightOrder::OutputsFirst, .layout = PackedLayout::Depthwise, .groups = 16}, noise({32, 1, 5}, 1),
        {});
}

TEST(PackPanels, TakesWeightsOfTransposedConvolutions) {
  const auto params = [](int64_t groups) {
    return PackPanelsParams{.source = WeightOrder::InputsFirst, .groups = groups};
  };
  for (const int64_t outputs : kSizes)
    for (const int64_t taps : {1, 2, 4, 9, 16, 27}) check(params(1), noise({5, outputs, taps}, 1), noise({outputs}, 2));
  check(params(1), noise({5, 7}, 1), {});
  check(params(3), noise({12, 17, 2, 2}, 1), noise({51}, 2));
  check(params(4), noise({4, 1, 3, 3, 3}, 1), {});
  check(params(1), noise({300, 40, 4, 4}, 1), noise({40}, 2));
  check(params(2), noise({2, 20, 5000}, 1), {});
}

TEST(PackPanels, TakesMatricesOfManyChunks) {
  check({.source = WeightOrder::OutputsFirst}, noise({300, 2000}, 1), noise({300}, 2));
  check({.source = WeightOrder::DepthFirst}, noise({2000, 300}, 1), noise({300}, 2));
  check({.source = WeightOrder::OutputsFirst}, noise({20, 30001}, 1), {});
  check({.source = WeightOrder::DepthFirst}, noise({1501, 641}, 1), {});
}

// Whether the kernel says that there is NaN or infinity.
bool notes(const PackPanelsParams& params, const std::vector<Tensor>& inputs) {
  KernelRun services(nullptr);
  const auto dims = output_dims(OpId::PackPanels, Params::of(params), inputs);
  const auto output = Tensor::allocate(DType::Float32, *dims, services.budget());
  std::vector<TensorView> in, out{output->view()};
  for (const Tensor& t : inputs) in.push_back(t.defined() ? t.view() : TensorView{});
  const std::vector<const Value*> boxed(in.size(), nullptr);
  EXPECT_TRUE(
      call_kernel(*find_family("cpu/PackPanels"), Params::of(params), in, boxed, out, services, isa_of_tests()).ok());
  return services.not_finite;
}

TEST(PackPanels, SeesEveryElementThatIsNotFinite) {
  const float wrong[] = {std::nanf(""), INFINITY, -INFINITY}, right[] = {FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, -0.0f};
  for_each_isa([&] {
    for (const bool kn : {false, true})
      for (int64_t i = 0; i < 19 * 21; ++i) {
        Tensor w = noise(kn ? std::vector<int64_t>{19, 21} : std::vector<int64_t>{21, 19}, 1);
        const PackPanelsParams params{.source = kn ? WeightOrder::DepthFirst : WeightOrder::OutputsFirst};
        w.as_mutable<float>()[static_cast<size_t>(i)] = right[i % 4];
        EXPECT_FALSE(notes(params, {w, {}}));
        w.as_mutable<float>()[static_cast<size_t>(i)] = wrong[i % 3];
        EXPECT_TRUE(notes(params, {w, {}})) << i;
      }
    Tensor scale = noise({21}, 2);
    scale.as_mutable<float>()[20] = INFINITY;
    EXPECT_TRUE(notes({.source = WeightOrder::OutputsFirst}, {noise({21, 19}, 1), scale}));
  });
}

TEST(PackPanels, KeepsEveryBitOfWhatItMoves) {
  const std::vector<uint32_t> bits{0x80000000u, 0x00000001u, 0x7fc12345u, 0x7f800000u, 0xff800000u, 0x007fffffu};
  std::vector<float> values(bits.size());
  std::memcpy(values.data(), bits.data(), bits.size() * sizeof(float));
  for_each_isa([&] {
    const Tensor packed = pack("cpu", {.source = WeightOrder::OutputsFirst}, Tensor::of<float>({1, 6}, values));
    for (size_t k = 0; k < bits.size(); ++k) EXPECT_EQ(std::bit_cast<uint32_t>(packed.as<float>()[k * 16]), bits[k]);
  });
}

TEST(PackPanels, RefusesWhatItCannotPack) {
  auto refused = [](const PackPanelsParams& p, const std::vector<Tensor>& inputs) {
    return !output_dims(OpId::PackPanels, Params::of(p), inputs).ok();
  };
  EXPECT_TRUE(refused({.source = WeightOrder::DepthFirst}, {noise({2, 2, 2}, 1)}));
  EXPECT_TRUE(refused({.source = WeightOrder::DepthFirst, .groups = 2}, {noise({2, 2}, 1)}));
  EXPECT_TRUE(refused({.groups = 3}, {noise({4, 2}, 1)}));
  EXPECT_TRUE(refused({.source = WeightOrder::InputsFirst}, {noise({4}, 1)}));
  EXPECT_TRUE(refused({.source = WeightOrder::InputsFirst, .groups = 3}, {noise({4, 2}, 1)}));
  EXPECT_TRUE(refused({.source = WeightOrder::InputsFirst, .layout = PackedLayout::Depthwise}, {noise({4, 2}, 1)}));
  EXPECT_TRUE(refused({.groups = 0}, {noise({4, 2}, 1)}));
  EXPECT_TRUE(refused({}, {noise({4, 2}, 1), noise({3}, 1)}));
  EXPECT_TRUE(refused({}, {noise({}, 1)}));
}

}  // namespace
}  // namespace tenon::test
