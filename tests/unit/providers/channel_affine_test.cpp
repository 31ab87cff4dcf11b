#include "ops/normalization.h"
#include "unit/providers/same_kernels.h"

namespace tenon::test {
namespace {

void check_batch(const std::vector<int64_t>& dims) {
  SCOPED_TRACE(testing::Message() << dims.size() << " axes of " << dims[1] << " channels");
  const std::vector<int64_t> channels{dims[1]};
  const std::vector<Tensor> in{noise(dims, 1), noise(channels, 2), noise(channels, 3), noise(channels, 4),
                               absolute(noise(channels, 5))};
  const Params p = Params::of(BatchNormalizationParams{.epsilon = 0.01f});
  const std::vector<OutputType> types{{DType::Float32, dims}};
  const Tensor expected = run_reference(OpId::BatchNormalization, p, in, types).outputs[0];
  for_each_cpu_run(OpId::BatchNormalization, p, in, types, [&](const TypedRun& run) {
    ASSERT_TRUE(run.status.ok()) << run.status.to_string();
    for (size_t i = 0; i < static_cast<size_t>(expected.size()); ++i)
      // |x - mean| <= 2 is multiplied with at most 1 / sqrt(0.01); five roundings on the way.
      ASSERT_NEAR(run.outputs[0].as<float>()[i], expected.as<float>()[i], std::ldexp(5.0, -24) * 21) << "element " << i;
  });
}

TEST(BatchNormalizationPlanes, TakesEveryShape) {
  for (const int64_t plane : {1, 3, 16, 17, 33}) check_batch({2, 5, plane});
  check_batch({3, 7});
  check_batch({1, 2, 100, 200});
}

TEST(BatchNormalizationPlanes, LeavesTrainingToTheReference) {
  const std::vector<int64_t> dims{4, 3, 5};
  const std::vector<Tensor> in{noise(dims, 1), noise({3}, 2), noise({3}, 3), noise({3}, 4), absolute(noise({3}, 5))};
  expect_same_kernels(OpId::BatchNormalization, Params::of(BatchNormalizationParams{.training_mode = true}), in,
                      {{DType::Float32, dims}, {DType::Float32, {3}}, {DType::Float32, {3}}});
}

void check_lp(const Tensor& x, int64_t axis, int64_t p) {
  SCOPED_TRACE(testing::Message() << "axis " << axis << " p " << p);
  const Params params = Params::of(LpNormalizationParams{.axis = axis, .p = p});
  const std::vector<OutputType> types{{DType::Float32, x.dims()}};
  const Tensor expected = run_reference(OpId::LpNormalization, params, {x}, types).outputs[0];
  const auto terms = static_cast<double>(x.dims()[static_cast<size_t>(axis)]);
  for_each_cpu_run(OpId::LpNormalization, params, {x}, types, [&](const TypedRun& run) {
    for (size_t i = 0; i < static_cast<size_t>(expected.size()); ++i) {
      // Sums of positive numbers: a rounding for each, and a few more.
      const double most = std::ldexp(terms + 5, -24) * std::fabs(expected.as<float>()[i]);
      ASSERT_NEAR(run.outputs[0].as<float>()[i], expected.as<float>()[i], most) << "element " << i;
    }
  });
}

TEST(LpNormalizationLines, TakesEveryAxis) {
  for (const auto& dims : {std::vector<int64_t>{1}, {50}, {7, 33}, {3, 4, 17}, {20, 1500}, {2, 9, 1030}})
    for (size_t axis = 0; axis < dims.size(); ++axis)
      for (const int64_t p : {1, 2}) check_lp(noise(dims, 1), static_cast<int64_t>(axis), p);
}

TEST(LpNormalizationLines, TakesNumbersWhoseSquaresAreNoFloats) {
  for (const float factor : {0.0f, 1e-30f, 1e30f})
    for (int64_t axis = 0; axis < 2; ++axis)
      for (const int64_t p : {1, 2}) {
        Tensor x = noise({20, 30}, 1);
        for (size_t i = 0; i < 600; ++i)
          if (axis == 0 ? i % 30 == 4 : i / 30 == 4) x.as_mutable<float>()[i] *= factor;
        check_lp(x, axis, p);
      }
}

}  // namespace
}  // namespace tenon::test
