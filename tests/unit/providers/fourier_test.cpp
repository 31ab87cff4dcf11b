#include "ops/fourier.h"

#include "unit/providers/same_kernels.h"

namespace tenon::test {
namespace {

// Errors of a transform go with the length of its input as a vector. Each pass rounds a few times for each element it
// takes together; a convolution goes there and back with numbers that are sqrt(2 n) times as large.
double tolerance(const Tensor& x, int64_t n) {
  double squares = 0;
  for (const float v : x.as<float>()) squares += double{v} * double{v};
  const double passes = 16 * std::log2(4.0 * static_cast<double>(n)) + 24;
  return std::ldexp(1.0, -24) * passes * std::sqrt(2.0 * static_cast<double>(n) * squares);
}

void check(OpId op, const Params& params, const std::vector<Tensor>& inputs, const std::vector<int64_t>& out,
           double most) {
  const std::vector<OutputType> types{{DType::Float32, out}};
  const TypedRun expected = run_reference(op, params, inputs, types);
  ASSERT_TRUE(expected.status.ok()) << expected.status.to_string();
  for_each_cpu_run(op, params, inputs, types, [&](const TypedRun& actual) {
    ASSERT_TRUE(actual.status.ok()) << actual.status.to_string();
    for (size_t i = 0; i < static_cast<size_t>(count_of(out)); ++i)
      ASSERT_NEAR(actual.outputs[0].as<float>()[i], expected.outputs[0].as<float>()[i], most) << "element " << i;
  });
}

// Along axis 1 of [signals, n, components].
void check_dft(int64_t signals, int64_t n, int64_t components, bool inverse, bool onesided) {
  SCOPED_TRACE(testing::Message() << signals << " signals of " << n << "x" << components << " inverse " << inverse
                                  << " onesided " << onesided);
  const int64_t given = inverse && onesided ? n / 2 + 1 : n, made = !inverse && onesided ? n / 2 + 1 : n;
  const Tensor x = noise({signals, given, components}, 1);
  std::vector<Tensor> inputs{x, Tensor::scalar(n), Tensor::scalar(1)};
  check(OpId::DFT, Params::of(DFTParams{.inverse = inverse, .onesided = onesided}), inputs,
        {signals, made, inverse && onesided ? 1 : 2}, tolerance(x, n));
}

TEST(Fourier, TakesEveryLength) {
  for (int64_t n = 30; n <= 68; ++n) check_dft(3, n, 2, false, false);
  for (const int64_t n : {49, 64, 97, 100, 210, 400, 512, 1009, 1025}) check_dft(1, n, 2, false, false);
}

TEST(Fourier, GoesBackAndTakesHalves) {
  for (const int64_t n : {1, 8, 33, 37, 64, 72, 400})
    for (const int64_t components : {1, 2}) {
      check_dft(2, n, components, true, false);
      if (components == 1) check_dft(2, n, components, false, true);
      if (components == 2) check_dft(2, n, components, true, true);
    }
}

TEST(Fourier, TransformsManySignals) {
  for (const int64_t signals : {15, 16, 17, 40}) check_dft(signals, 60, 1, false, true);
  check_dft(5, 3000, 2, false, false);
}

TEST(Fourier, CutsAndFillsSignals) {
  const Tensor x = noise({2, 20, 3, 2}, 1);
  for (const int64_t n : {32, 40, 60})
    check(OpId::DFT, Params::of(DFTParams{}), {x, Tensor::scalar(n), Tensor::scalar(1)}, {2, n, 3, 2},
          tolerance(x, 60));
  check(OpId::DFT, Params::of(DFTParams{}), {x, {}, Tensor::scalar(-2)}, {2, 20, 3, 2}, tolerance(x, 20));
}

TEST(Fourier, KeepsWhatIsNotFiniteToItsSignal) {
  Tensor x = noise({20, 32, 1}, 1);
  x.as_mutable<float>()[35] = INFINITY;
  const std::vector<OutputType> types{{DType::Float32, {20, 32, 2}}};
  const std::vector<Tensor> inputs{x, {}, Tensor::scalar(1)};
  for_each_cpu_run(OpId::DFT, Params::of(DFTParams{}), inputs, types, [](const TypedRun& run) {
    const auto y = run.outputs[0].as<float>();
    for (size_t i = 0; i < 1280; ++i) EXPECT_TRUE(i / 64 == 1 || std::isfinite(y[i])) << "element " << i;
    EXPECT_FALSE(std::isfinite(y[64]));
  });
}

void check_stft(int64_t samples, int64_t step, int64_t length, bool has_window, bool onesided, int64_t components) {
  SCOPED_TRACE(testing::Message() << samples << " samples, frames of " << length << " by " << step);
  const Tensor x = noise({2, samples, components}, 1);
  const std::vector<Tensor> inputs{x, Tensor::scalar(step), has_window ? noise({length}, 2) : Tensor(),
                                   Tensor::scalar(length)};
  check(OpId::STFT, Params::of(STFTParams{.onesided = onesided}), inputs,
        {2, (samples - length) / step + 1, onesided ? length / 2 + 1 : length, 2}, tolerance(x, length));
}

TEST(Fourier, TransformsFrames) {
  check_stft(500, 37, 64, true, true, 1);
  check_stft(500, 20, 50, true, true, 1);
  check_stft(300, 10, 22, false, false, 2);
  check_stft(3000, 160, 400, true, true, 1);
}

}  // namespace
}  // namespace tenon::test
