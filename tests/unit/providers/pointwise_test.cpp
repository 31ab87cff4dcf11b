#include "ops/pointwise.h"

#include <array>
#include <bit>
#include <limits>

#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

PointwiseParams expression(const std::vector<PointwiseInstruction>& code, std::vector<int64_t> results) {
  PointwiseParams p;
  for (const auto& instruction : code) p.add(instruction);
  p.results = std::move(results);
  p.dtypes.assign(p.results.size(), static_cast<int64_t>(DType::Float32));
  return p;
}

std::vector<Tensor> evaluate(const std::string& provider, const PointwiseParams& p, const std::vector<Tensor>& inputs,
                             ThreadPool* pool = nullptr) {
  return run_kernel_outputs(provider + "/Pointwise", OpId::Pointwise, Params::of(p), inputs, p.results.size(), pool);
}

// Numbers of every size, and those that are none.
Tensor telling_numbers(int64_t count, uint32_t seed) {
  const Tensor base = noise({count}, seed);
  std::vector<float> values(base.as<float>().begin(), base.as<float>().end());
  for (size_t i = 0; i < values.size(); ++i) values[i] *= std::ldexp(1.0f, static_cast<int>(i % 13) - 6);
  const float special[] = {0.0f,   -0.0f,   1.0f,  -1.0f,  0.5f,      2.5f,       88.0f, -88.0f,
                           200.0f, -200.0f, 1e30f, -1e30f, kInfinity, -kInfinity, kNaN};
  for (size_t i = 0; i < std::size(special) && i < values.size(); ++i) values[i * 7 % values.size()] = special[i];
  return Tensor::of<float>({count}, values);
}

// The error in units of the last place of the result; results that round to nothing are equal.
double units_apart(float got, float wanted) {
  if (std::isnan(got) && std::isnan(wanted)) return 0;
  if (got == wanted) return 0;
  const double unit = std::max(std::ldexp(1.0, std::ilogb(wanted == 0 ? 1e-37f : wanted) - 23), 1e-38);
  return std::fabs(double{got} - double{wanted}) / unit;
}

struct Bound {
  PointwiseOp op;
  double units;     // of the result
  double absolute;  // where sums cancel
};

// Functions; every other instruction gives the float nearest to the result.
constexpr Bound kBounds[] = {
    {PointwiseOp::Acos, 1, 0},
    {PointwiseOp::Acosh, 1, 0},
    {PointwiseOp::Asin, 1, 0},
    {PointwiseOp::Asinh, 1, 0},
    {PointwiseOp::Atan, 1, 0},
    {PointwiseOp::Atanh, 1, 0},
    {PointwiseOp::Cosh, 1, 0},
    {PointwiseOp::Sinh, 1, 0},
    {PointwiseOp::Tan, 1, 0},
    {PointwiseOp::Celu, 5, 0},
    {PointwiseOp::Cos, 1, 0},
    {PointwiseOp::Elu, 4, 0},
    {PointwiseOp::Erf, 3, 0},
    {PointwiseOp::Exp, 2, 0},
    {PointwiseOp::Gelu, 4, 2e-7},
    {PointwiseOp::GeluTanh, 8, 2e-7},
    {PointwiseOp::HardSigmoid, 2, 1e-7},
    {PointwiseOp::HardSwish, 3, 0},
    {PointwiseOp::Log, 2, 0},
    {PointwiseOp::Mish, 5, 1e-36},
    {PointwiseOp::Pow, 2, 0},
    {PointwiseOp::Selu, 5, 0},
    {PointwiseOp::Sigmoid, 4, 0},
    {PointwiseOp::Silu, 5, 1e-7},
    {PointwiseOp::Sin, 1, 0},
    {PointwiseOp::Softplus, 4, 0},
    {PointwiseOp::Tanh, 5, 0},
    {PointwiseOp::Reciprocal, 0.5, 0},
    {PointwiseOp::Softsign, 1.5, 0},
};

float element(const Tensor& t, size_t i) { return t.as<float>()[t.size() == 1 ? 0 : i]; }

void check_instruction(PointwiseOp op, const std::vector<Tensor>& inputs) {
  SCOPED_TRACE(pointwise_info(op).name);
  const int64_t count = std::max(inputs[0].size(), inputs[1].size());
  const auto p = expression({{op, {0, 1, 2}, {1.5f, 0.75f}}}, {0});
  const auto bound = std::ranges::find(kBounds, op, &Bound::op);
  const double units = bound == std::end(kBounds) ? 0 : bound->units;
  const double absolute = bound == std::end(kBounds) ? 0 : bound->absolute;
  const Tensor expected = evaluate("reference", p, inputs)[0];
  for_each_isa([&] {
    const Tensor got = evaluate("cpu", p, inputs)[0];
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const float x = got.as<float>()[i], y = expected.as<float>()[i];
      // Too small for a normal number: some instruction sets flush it.
      if (std::fabs(y) < 1.2e-38f && std::fabs(x) < 1.2e-38f) continue;
      ASSERT_TRUE(units_apart(x, y) <= units || std::fabs(x - y) <= absolute)
          << x << " instead of " << y << " for " << element(inputs[0], i) << ", " << element(inputs[1], i);
    }
  });
}

TEST(Pointwise, ComputesEveryInstruction) {
  // Conditions and truth values are among the numbers.
  const std::vector<Tensor> inputs{telling_numbers(1100, 1), telling_numbers(1100, 2), telling_numbers(1100, 3)};
  for (int64_t op = 0; op < kPointwiseOps; ++op) check_instruction(static_cast<PointwiseOp>(op), inputs);
}

Tensor number(float x) { return Tensor::of<float>({1}, std::array{x}); }

// Floats of every sign, exponent and kind, evenly spread over the bit patterns.
Tensor bit_patterns(uint32_t step) {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += step)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  const auto count = static_cast<int64_t>(values.size());
  return Tensor::of<float>({count}, values);
}

TEST(Pointwise, KeepsErrorsOfFunctionsOverAllFloats) {
  const Tensor x = bit_patterns(60013), none = number(0);
  for (const Bound& bound : kBounds)
    if (pointwise_info(bound.op).operands == 1) check_instruction(bound.op, {x, none, none});
}

TEST(Pointwise, RaisesAllFloatsToPowers) {
  const Tensor x = bit_patterns(900007), none = number(0);
  for (const float exponent : {0.0f, 0.5f, -0.5f, 1.0f, -1.0f, 2.0f, 3.0f, 4.0f, -3.0f, 0.1f, 17.5f, 1e-3f, 33554432.0f,
                               kInfinity, -kInfinity, kNaN}) {
    SCOPED_TRACE(exponent);
    const Tensor y = number(exponent);
    check_instruction(PointwiseOp::Pow, {x, y, none});
    std::vector<float> each(static_cast<size_t>(x.size()), exponent);
    check_instruction(PointwiseOp::Pow, {x, Tensor::of<float>({x.size()}, each), none});
    check_instruction(PointwiseOp::Pow, {Tensor::of<float>({x.size()}, each), x, none});
    check_instruction(PointwiseOp::Pow, {y, x, none});
  }
}

// x * scale + shift, then the larger of it and 0.25.
const PointwiseParams& chain() {
  static const PointwiseParams p = expression(
      {{PointwiseOp::Mul, {0, 1, -1}, {}}, {PointwiseOp::Add, {4, 2, -1}, {}}, {PointwiseOp::Max, {5, 3, -1}, {}}},
      {2});
  return p;
}

void check_broadcast(const std::vector<int64_t>& x, const std::vector<int64_t>& scale,
                     const std::vector<int64_t>& shift) {
  SCOPED_TRACE(testing::PrintToString(x) + testing::PrintToString(scale) + testing::PrintToString(shift));
  const std::vector<Tensor> inputs{noise(x, 1), noise(scale, 2), noise(shift, 3), noise({}, 4)};
  const Tensor expected = evaluate("reference", chain(), inputs)[0];
  ThreadPool pool(3);
  for_each_isa([&] {
    const Tensor alone = evaluate("cpu", chain(), inputs)[0], together = evaluate("cpu", chain(), inputs, &pool)[0];
    ASSERT_EQ(alone.dims(), expected.dims());
    for (size_t i = 0; i < static_cast<size_t>(expected.size()); ++i) {
      EXPECT_NEAR(alone.as<float>()[i], expected.as<float>()[i], 3e-7);
      EXPECT_EQ(alone.as<float>()[i], together.as<float>()[i]);
    }
  });
}

TEST(Pointwise, BroadcastsOperands) {
  check_broadcast({2, 3, 7, 7}, {3, 1, 1}, {1, 3, 1, 1});
  check_broadcast({2, 3, 50, 41}, {3, 1, 1}, {});
  check_broadcast({4, 700}, {700}, {4, 1});
  check_broadcast({4, 1}, {1, 5}, {3, 1, 1});
  check_broadcast({1, 1, 1}, {2, 1, 513}, {1, 3, 1});
  check_broadcast({0, 4}, {4}, {1});
  check_broadcast({}, {}, {});
  check_broadcast({511}, {511}, {511});
  check_broadcast({512}, {1}, {512});
  check_broadcast({100, 1024}, {1024}, {100, 1});
  check_broadcast({3, 2, 5, 4, 2}, {2, 1, 4, 1}, {3, 1, 5, 1, 2});
}

TEST(Pointwise, HasSeveralResults) {
  const auto p = expression(
      {{PointwiseOp::Add, {0, 1, -1}, {}}, {PointwiseOp::Neg, {2, -1, -1}, {}}, {PointwiseOp::Mul, {3, 0, -1}, {}}},
      {0, 2, 2});
  const std::vector<Tensor> inputs{noise({3, 700}, 1), noise({700}, 2)};
  const auto expected = evaluate("reference", p, inputs);
  for_each_isa([&] {
    const auto got = evaluate("cpu", p, inputs);
    for (size_t k = 0; k < got.size(); ++k)
      for (size_t i = 0; i < 2100; ++i) EXPECT_NEAR(got[k].as<float>()[i], expected[k].as<float>()[i], 3e-7);
  });
}

TEST(Pointwise, RefusesCodeThatDoesNotFit) {
  const auto refused = [](const PointwiseParams& p) {
    return !output_dims(OpId::Pointwise, Params::of(p), {noise({2}, 1)}).ok();
  };
  EXPECT_FALSE(refused(expression({{PointwiseOp::Neg, {0, -1, -1}, {}}}, {0})));
  EXPECT_TRUE(refused(expression({{PointwiseOp::Neg, {1, -1, -1}, {}}}, {0})));
  EXPECT_TRUE(refused(expression({{PointwiseOp::Add, {0, -1, -1}, {}}}, {0})));
  EXPECT_TRUE(refused(expression({{PointwiseOp::Neg, {0, -1, -1}, {}}}, {1})));
  EXPECT_TRUE(refused(expression({}, {0})));
  PointwiseParams p = expression({{PointwiseOp::Neg, {0, -1, -1}, {}}}, {0});
  p.code[0] = kPointwiseOps;
  EXPECT_TRUE(refused(p));
  p = expression({{PointwiseOp::Neg, {0, -1, -1}, {}}}, {0});
  p.numbers.push_back(0);
  EXPECT_TRUE(refused(p));
}

}  // namespace
}  // namespace tenon::test
