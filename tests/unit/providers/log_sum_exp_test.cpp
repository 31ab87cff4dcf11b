#include "ops/reduction.h"
#include "unit/providers/same_kernels.h"

namespace tenon::test {
namespace {

void check(const Tensor& x, const std::vector<int64_t>& axes) {
  SCOPED_TRACE(testing::Message() << axes.size() << " axes from " << axes[0]);
  std::vector<int64_t> dims = x.dims();
  int64_t terms = 1;
  for (const int64_t axis : axes) terms *= std::exchange(dims[static_cast<size_t>(axis)], 1);
  const Params p = Params::of(ReductionParams{});
  const std::vector<Tensor> in{x, Tensor::of_ints(axes)};
  const std::vector<OutputType> types{{DType::Float32, dims}};
  const Tensor expected = run_reference(OpId::ReduceLogSumExp, p, in, types).outputs[0];
  for_each_cpu_run(OpId::ReduceLogSumExp, p, in, types, [&](const TypedRun& run) {
    ASSERT_TRUE(run.status.ok()) << run.status.to_string();
    for (size_t i = 0; i < static_cast<size_t>(expected.size()); ++i) {
      const float a = run.outputs[0].as<float>()[i], b = expected.as<float>()[i];
      if (!std::isfinite(b)) {
        ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << a << " instead of " << b;
        continue;
      }
      // The sum of positive numbers is off by a rounding of each, of the difference below its exponential (at most 8
      // here where it counts) and of the exponential; the logarithm turns that into a difference.
      ASSERT_NEAR(a, b, std::ldexp(static_cast<double>(terms) + 16 + 2 * std::fabs(b), -24)) << "element " << i;
    }
  });
}

TEST(ReduceLogSumExp, TakesAnyAxes) {
  const Tensor x = noise({3, 5, 17, 33}, 1);
  for (const auto& axes : {std::vector<int64_t>{0}, {1}, {2}, {3}, {0, 1}, {1, 3}, {0, 2}, {2, 3}, {0, 1, 2, 3}})
    check(x, axes);
  check(noise({20000}, 2), {0});
  check(noise({40, 1100}, 2), {0});
  check(noise({1100, 40}, 2), {1});
}

TEST(ReduceLogSumExp, DoesNotOverflow) {
  Tensor x = noise({4, 30}, 1);
  for (size_t i = 0; i < 30; ++i) {
    x.as_mutable<float>()[i] = 3e38f;
    x.as_mutable<float>()[30 + i] = -3e38f;
  }
  for (const int64_t axis : {0, 1}) check(x, {axis});
}

TEST(ReduceLogSumExp, TakesWhatIsNotFinite) {
  for (const float special : {INFINITY, -INFINITY, std::nanf("")})
    for (const int64_t axis : {0, 1}) {
      Tensor x = noise({20, 20}, 1);
      for (size_t i = 0; i < 20; ++i) {
        x.as_mutable<float>()[i * 20 + 3] = special;
        x.as_mutable<float>()[5 * 20 + i] = special;
      }
      x.as_mutable<float>()[7 * 20 + 7] = special;
      check(x, {axis});
    }
}

}  // namespace
}  // namespace tenon::test
