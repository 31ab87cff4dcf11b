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
  const bool kn = p.source == "kn";
  const int64_t outputs = w.dims()[kn ? 1 : 0], depth = outputs == 0 ? 0 : w.size() / outputs;
  const int64_t groups = p.layout == kDepthwiseLayout ? 1 : p.groups, columns = outputs / groups;
  std::vector<float> result;
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t panel = 0; panel * 16 < columns; ++panel)
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t n = panel * 16; n < panel * 16 + 16; ++n) {
          const int64_t output = g * columns + n;
          const bool there = n < columns;
          float x = there ? w.as<float>()[static_cast<size_t>(kn ? k * outputs + output : output * depth + k)] : 0;
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
      check({.source = "nk"}, noise({n, k}, 1), scale);
      check({.source = "kn"}, noise({k, n}, 2), scale);
    }
}

TEST(PackPanels, TakesWeightsOfConvolutionsInGroups) {
  check({.source = "nk", .groups = 3}, noise({3 * 17, 5, 3, 3}, 1), noise({51}, 2));
  check({.source = "nk", .groups = 4}, noise({64, 2, 3}, 1), {});
  check({.source = "nk", .layout = kDepthwiseLayout, .groups = 37}, noise({37, 1, 3, 3}, 1), noise({37}, 2));
  check({.source = "nk", .layout = kDepthwiseLayout, .groups = 16}, noise({32, 1, 5}, 1), {});
}

TEST(PackPanels, TakesMatricesOfManyChunks) {
  check({.source = "nk"}, noise({300, 2000}, 1), noise({300}, 2));
  check({.source = "kn"}, noise({2000, 300}, 1), noise({300}, 2));
  check({.source = "nk"}, noise({20, 30001}, 1), {});
  check({.source = "kn"}, noise({1501, 641}, 1), {});
}

// Parts [rows, widths...] of a matrix, cut along the axis of the outputs.
std::vector<Tensor> cut(const Tensor& w, bool kn, const std::vector<int64_t>& widths) {
  const int64_t outputs = w.dims()[kn ? 1 : 0], depth = w.dims()[kn ? 0 : 1];
  std::vector<Tensor> parts;
  int64_t first = 0;
  for (const int64_t width : widths) {
    std::vector<float> values;
    for (int64_t row = 0; row < (kn ? depth : width); ++row)
      for (int64_t column = 0; column < (kn ? width : depth); ++column)
        values.push_back(
            w.as<float>()[static_cast<size_t>(kn ? row * outputs + first + column : (first + row) * depth + column)]);
    parts.push_back(Tensor::of<float>(kn ? std::vector{depth, width} : std::vector{width, depth}, values));
    first += width;
  }
  return parts;
}

TEST(PackPanels, PutsWeightsSideBySide) {
  const std::vector<int64_t> widths{32, 16, 48, 21};
  const int64_t outputs = 117;
  ThreadPool pool(1);
  for (const bool kn : {false, true})
    for (const bool scaled : {false, true}) {
      const PackPanelsParams params{.source = kn ? "kn" : "nk"};
      const Tensor whole = kn ? noise({1025, outputs}, 1) : noise({outputs, 1025}, 1);
      const Tensor scale = scaled ? noise({outputs}, 2) : Tensor();
      std::vector<Tensor> inputs = cut(whole, kn, widths);
      inputs.insert(inputs.begin() + 1, scale);
      const Tensor expected = pack("reference", params, whole, scale);
      const auto run = [&](const std::string& family, ThreadPool* threads) {
        return run_kernel(family + "/PackPanels", OpId::PackPanels, Params::of(params), inputs, threads);
      };
      EXPECT_TRUE(same_bits(run("reference", nullptr), expected));
      for_each_isa([&] {
        EXPECT_TRUE(same_bits(run("cpu", nullptr), expected));
        EXPECT_TRUE(same_bits(run("cpu", &pool), expected));
      });
    }
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
        const PackPanelsParams params{.source = kn ? "kn" : "nk"};
        w.as_mutable<float>()[static_cast<size_t>(i)] = right[i % 4];
        EXPECT_FALSE(notes(params, {w, {}}));
        w.as_mutable<float>()[static_cast<size_t>(i)] = wrong[i % 3];
        EXPECT_TRUE(notes(params, {w, {}})) << i;
      }
    Tensor scale = noise({21}, 2);
    scale.as_mutable<float>()[20] = INFINITY;
    EXPECT_TRUE(notes({.source = "nk"}, {noise({21, 19}, 1), scale}));
  });
}

TEST(PackPanels, KeepsEveryBitOfWhatItMoves) {
  const std::vector<uint32_t> bits{0x80000000u, 0x00000001u, 0x7fc12345u, 0x7f800000u, 0xff800000u, 0x007fffffu};
  std::vector<float> values(bits.size());
  std::memcpy(values.data(), bits.data(), bits.size() * sizeof(float));
  for_each_isa([&] {
    const Tensor packed = pack("cpu", {.source = "nk"}, Tensor::of<float>({1, 6}, values));
    for (size_t k = 0; k < bits.size(); ++k) EXPECT_EQ(std::bit_cast<uint32_t>(packed.as<float>()[k * 16]), bits[k]);
  });
}

TEST(PackPanels, RefusesWhatItCannotPack) {
  auto refused = [](const PackPanelsParams& p, const std::vector<Tensor>& inputs) {
    return !output_dims(OpId::PackPanels, Params::of(p), inputs).ok();
  };
  EXPECT_TRUE(refused({.source = "kk"}, {noise({2, 2}, 1)}));
  EXPECT_TRUE(refused({.layout = "rows"}, {noise({2, 2}, 1)}));
  EXPECT_TRUE(refused({.source = "kn"}, {noise({2, 2, 2}, 1)}));
  EXPECT_TRUE(refused({.source = "kn", .groups = 2}, {noise({2, 2}, 1)}));
  EXPECT_TRUE(refused({.groups = 3}, {noise({4, 2}, 1)}));
  EXPECT_TRUE(refused({.groups = 0}, {noise({4, 2}, 1)}));
  EXPECT_TRUE(refused({}, {noise({4, 2}, 1), noise({3}, 1)}));
  EXPECT_TRUE(refused({}, {noise({}, 1)}));
  EXPECT_TRUE(refused({}, {noise({8, 2}, 1), {}, noise({16, 2}, 1)}));
  EXPECT_TRUE(refused({}, {noise({16, 2}, 1), {}, noise({16, 3}, 1)}));
  EXPECT_TRUE(refused({.groups = 2}, {noise({16, 2}, 1), {}, noise({16, 2}, 1)}));
}

}  // namespace
}  // namespace tenon::test
