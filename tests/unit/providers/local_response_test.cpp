#include "ops/normalization.h"
#include "unit/providers/same_kernels.h"

namespace tenon::test {
namespace {

void check(const Tensor& x, const LRNParams& p) {
  SCOPED_TRACE(testing::Message() << "size " << p.size << " beta " << p.beta);
  const std::vector<OutputType> types{{DType::Float32, x.dims()}};
  const Tensor expected = run_reference(OpId::LRN, Params::of(p), {x}, types).outputs[0];
  for_each_cpu_run(OpId::LRN, Params::of(p), {x}, types, [&](const TypedRun& run) {
    ASSERT_TRUE(run.status.ok()) << run.status.to_string();
    for (size_t i = 0; i < static_cast<size_t>(expected.size()); ++i) {
      // A sum of positive numbers is off by a rounding of each and two more; the power changes that by beta at most,
      // and adds five.
      const double terms = (static_cast<double>(p.size) + 2) * std::max(1.0, double{p.beta}) + 5;
      ASSERT_NEAR(run.outputs[0].as<float>()[i], expected.as<float>()[i],
                  std::ldexp(terms, -24) * std::fabs(expected.as<float>()[i]))
          << "element " << i;
    }
  });
}

TEST(LocalResponse, TakesEverySize) {
  for (const int64_t size : {1, 2, 3, 5, 9, 20}) check(noise({2, 7, 5, 9}, 1), {.alpha = 0.5f, .size = size});
  for (const float beta : {0.5f, 1.0f, 2.5f}) check(noise({1, 4, 30, 40}, 2), {.alpha = 2, .beta = beta, .size = 3});
  check(noise({3, 4}, 2), {.size = 3});
}

TEST(LocalResponse, TakesNumbersWhoseSquaresAreNoFloats) {
  Tensor x = noise({1, 5, 3, 7}, 1);
  x.as_mutable<float>()[4] = 1e25f;
  x.as_mutable<float>()[50] = -3e38f;
  check(x, {.alpha = 1, .size = 3});
}

}  // namespace
}  // namespace tenon::test
