#include "ops/packed.h"
#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

constexpr int64_t kSizes[] = {0, 1, 2, 3, 5, 15, 16, 17, 31, 33, 64, 100};

Tensor pack(const Tensor& w) {
  return run_kernel("cpu/PackPanels", OpId::PackPanels, Params::of(PackPanelsParams{.source = WeightOrder::DepthFirst}),
                    {w});
}

Tensor multiply(const std::string& provider, const PackedMatMulParams& p, const Tensor& x, const Tensor& packed,
                const Tensor& bias, ThreadPool* pool = nullptr) {
  return run_kernel(provider + "/PackedMatMul", OpId::PackedMatMul, Params::of(p), {x, packed, bias}, pool);
}

Tensor add(const Tensor& a, const Tensor& b) {
  if (!b.defined()) return a;
  return run_kernel("reference/Add", OpId::Add, default_params(OpId::Add), {a, b});
}

// Against the reference kernel of MatMul on the weights as they were.
void check(std::vector<int64_t> batch, int64_t n, int64_t k, bool biased) {
  batch.push_back(k);
  const Tensor x = noise(batch, 1), w = noise({k, n}, 2), bias = biased ? noise({n}, 3) : Tensor();
  auto product = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
    return add(run_kernel("reference/MatMul", OpId::MatMul, default_params(OpId::MatMul), {a, b}), c);
  };
  const Tensor expected = product(x, w, bias), size = product(absolute(x), absolute(w), absolute(bias));
  const Tensor packed = pack(w);
  const PackedMatMulParams p{.columns = {n}, .k = k};
  expect_near(multiply("reference", p, x, packed, bias), expected, size, 1);
  for_each_isa([&] { expect_near(multiply("cpu", p, x, packed, bias), expected, size, k + 1); });
}

TEST(PackedMatMul, TakesEverySize) {
  for (const int64_t m : kSizes)
    for (const int64_t n : kSizes)
      for (const int64_t k : kSizes) {
        SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
        check({m}, n, k, (m + n + k) % 2 == 0);
        if (HasFatalFailure()) return;
      }
}

TEST(PackedMatMul, TakesEveryRank) {
  check({}, 33, 17, true);
  check({2, 3, 5}, 33, 17, true);
  check({2, 0, 5}, 33, 17, false);
}

TEST(PackedMatMul, TakesMoreThanOneBlockOfEveryExtent) {
  check({171}, 283, 700, true);
  check({1}, 1000, 2048, true);
}

TEST(PackedMatMul, HasTheSameBitsForAnyNumberOfThreadsAndRows) {
  const Tensor x = noise({200, 300}, 1), w = noise({300, 500}, 2), packed = pack(w), bias = noise({500}, 3);
  const PackedMatMulParams p{.columns = {500}, .k = 300, .activation = {ActivationKind::Gelu}};
  ThreadPool pool(1);
  for_each_isa([&] {
    const Tensor alone = multiply("cpu", p, x, packed, bias);
    EXPECT_TRUE(same_bits(multiply("cpu", p, x, packed, bias, &pool), alone));
    const Tensor row = Tensor::borrow(DType::Float32, {1, 300}, x.as<float>().data() + 7 * 300, nullptr);
    const Tensor result = multiply("cpu", p, row, packed, bias);
    EXPECT_EQ(std::memcmp(result.data(), alone.as<float>().data() + 7 * 500, 500 * sizeof(float)), 0);
  });
}

// Each weight gives the bits that it gives alone, whatever stands beside it.
TEST(PackedMatMul, MultipliesSeveralWeightsAsIfEachWereAlone) {
  const Tensor x = noise({200, 300}, 1), none;
  const std::vector<int64_t> columns{500, 1, 0, 16, 130};
  std::vector<Tensor> inputs{x}, weights, biases;
  for (size_t i = 0; i < columns.size(); ++i) {
    weights.push_back(pack(noise({300, columns[i]}, static_cast<int>(i) + 2)));
    biases.push_back(i % 2 == 0 ? noise({columns[i]}, static_cast<int>(i) + 20) : none);
    inputs.push_back(weights.back());
    inputs.push_back(biases.back());
    if (i == 0) inputs.insert(inputs.end(), 2, none);
  }
  ThreadPool pool(1);
  const Params together = Params::of(PackedMatMulParams{columns, 300, {ActivationKind::Relu}});
  for (const std::string provider : {"reference", "cpu"})
    for_each_isa([&] {
      const auto results =
          run_kernel_outputs(provider + "/PackedMatMul", OpId::PackedMatMul, together, inputs, columns.size(), &pool);
      for (size_t i = 0; i < columns.size(); ++i) {
        const PackedMatMulParams alone{{columns[i]}, 300, {ActivationKind::Relu}};
        EXPECT_TRUE(same_bits(results[i], multiply(provider, alone, x, weights[i], biases[i]))) << provider << i;
      }
    });
}

std::vector<FusedActivation> activations() {
  using enum ActivationKind;
  return {{None}, {Relu}, {Clip, -1, 2.5f}, {LeakyRelu, 0.1f}, {Elu, 0.7f},    {Sigmoid},  {HardSigmoid, 0.2f, 0.5f},
          {Tanh}, {Gelu}, {GeluTanh},       {Silu, 1},         {Silu, 1.702f}, {HardSwish}};
}

TEST(PackedMatMul, AppliesEveryActivation) {
  // One column of weight 1 shows the function itself; the other rounds its sum first.
  std::vector<float> points{0.0f, -0.0f, 1e-30f, -1e-30f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN};
  for (int i = -2000; i <= 2000; ++i) points.push_back(static_cast<float>(i) * 0.01f);
  const auto count = static_cast<int64_t>(points.size());
  const Tensor x = Tensor::of<float>({count, 1}, points);
  const Tensor packed = pack(Tensor::of<float>({1, 1}, std::vector<float>{1.0f}));
  for (const FusedActivation& a : activations()) {
    SCOPED_TRACE(choice_name(a.kind));
    const PackedMatMulParams p{.columns = {1}, .k = 1, .activation = a};
    const Tensor expected = multiply("reference", p, x, packed, {});
    for_each_isa([&] {
      const Tensor actual = multiply("cpu", p, x, packed, {});
      for (size_t i = 0; i < points.size(); ++i) {
        const float got = actual.as<float>()[i], want = expected.as<float>()[i];
        if (std::isnan(want) || std::isinf(want)) {
          // x * 0 at an infinity has no limit that all formulas agree on.
          ASSERT_TRUE(std::isnan(got) || got == want) << points[i] << ": " << got << " instead of " << want;
          continue;
        }
        // Polynomials of a few units in the last place, and 1 + f(x) that cancels below zero.
        const double tolerance = 8 * std::ldexp(std::max(std::fabs(want), std::min(1.0f, std::fabs(points[i]))), -24);
        ASSERT_LE(std::fabs(double{got} - double{want}), tolerance) << points[i] << ": " << got << " not " << want;
      }
    });
  }
}

TEST(PackedMatMul, RefusesOperandsThatDoNotFit) {
  auto refused = [](const PackedMatMulParams& p, const std::vector<Tensor>& inputs) {
    return !output_dims(OpId::PackedMatMul, Params::of(p), inputs).ok();
  };
  const Tensor packed = pack(noise({5, 17}, 1));
  EXPECT_FALSE(refused({.columns = {17}, .k = 5}, {noise({5}, 1), packed}));
  EXPECT_TRUE(refused({.columns = {17}, .k = 6}, {noise({6}, 1), packed}));
  EXPECT_TRUE(refused({.columns = {33}, .k = 5}, {noise({5}, 1), packed}));
  EXPECT_TRUE(refused({.columns = {17}, .k = 5}, {noise({4}, 1), packed}));
  EXPECT_TRUE(refused({.columns = {17}, .k = 5}, {noise({}, 1), packed}));
  EXPECT_TRUE(refused({.columns = {17}, .k = 5}, {noise({5}, 1), packed, noise({16}, 1)}));
  EXPECT_TRUE(refused({.columns = {}, .k = 5}, {noise({5}, 1), packed}));
  EXPECT_TRUE(refused({.columns = {17, 17}, .k = 5}, {noise({5}, 1), packed}));
  const Tensor none, narrow = pack(noise({5, 3}, 1)), deep = pack(noise({6, 17}, 1));
  EXPECT_FALSE(refused({.columns = {17, 3}, .k = 5}, {noise({5}, 1), packed, none, none, none, narrow}));
  EXPECT_TRUE(refused({.columns = {17, 17}, .k = 5}, {noise({5}, 1), packed, none, none, none, deep}));
  EXPECT_TRUE(refused({.columns = {17}, .k = 5}, {noise({5}, 1), packed, none, none, none, narrow}));
}

}  // namespace
}  // namespace tenon::test
