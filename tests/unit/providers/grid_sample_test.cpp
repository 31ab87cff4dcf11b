#include "ops/grid.h"
#include "unit/providers/same_kernels.h"

namespace tenon::test {
namespace {

// Weights are rounded to float, and each of at most `taps` products and sums once more. Cubic weights add up to less
// than 1.5 on each axis; pixels are below 1.
void check(const Tensor& image, const Tensor& grid, const GridSampleParams& p) {
  std::vector<int64_t> dims = grid.dims();
  const auto axes = static_cast<double>(dims.back());
  dims.pop_back();
  dims.insert(dims.begin() + 1, image.dims()[1]);
  const std::vector<OutputType> types{{DType::Float32, dims}};
  const Tensor expected = run_reference(OpId::GridSample, Params::of(p), {image, grid}, types).outputs[0];
  const double taps = std::pow(p.mode == "nearest" ? 1 : p.mode == "cubic" ? 4 : 2, axes);
  const double most = std::ldexp(taps + 2, -24) * std::pow(1.5, axes);
  for_each_cpu_run(OpId::GridSample, Params::of(p), {image, grid}, types, [&](const TypedRun& run) {
    ASSERT_TRUE(run.status.ok()) << run.status.to_string();
    for (size_t i = 0; i < static_cast<size_t>(expected.size()); ++i) {
      const float a = run.outputs[0].as<float>()[i], b = expected.as<float>()[i];
      if (std::isfinite(b))
        ASSERT_NEAR(a, b, most) << "element " << i;
      else
        ASSERT_TRUE(std::isnan(a) == std::isnan(b) && std::isinf(a) == std::isinf(b)) << "element " << i;
    }
  });
}

// Coordinates in and around the image.
Tensor coordinates(std::vector<int64_t> dims) {
  Tensor grid = noise(std::move(dims), 7);
  for (float& x : grid.as_mutable<float>()) x *= 1.7f;
  return grid;
}

void check_all(const Tensor& image, const Tensor& grid) {
  for (const std::string mode : {"linear", "nearest", "cubic"})
    for (const std::string padding : {"zeros", "border", "reflection"})
      for (const bool align : {false, true}) {
        SCOPED_TRACE(mode + " " + padding + (align ? " aligned" : ""));
        check(image, grid, {.align_corners = align, .mode = mode, .padding_mode = padding});
      }
}

TEST(GridSample, TakesEveryMode) {
  check_all(noise({2, 3, 9, 7}, 1), coordinates({2, 5, 13, 2}));
  check_all(noise({1, 2, 4, 5, 6}, 1), coordinates({1, 3, 4, 5, 3}));
  check_all(noise({1, 2, 1, 1}, 1), coordinates({1, 3, 3, 2}));
}

TEST(GridSample, CutsManyPoints) {
  check_all(noise({2, 2, 20, 30}, 1), coordinates({2, 20, 19, 2}));
  // More points than a block has.
  check(noise({1, 1, 20, 30}, 1), coordinates({1, 130, 151, 2}), {.mode = "cubic"});
}

TEST(GridSample, LeavesOutPixelsOfNoWeight) {
  Tensor image = noise({1, 1, 8, 8}, 1);
  image.as_mutable<float>()[0] = INFINITY;
  image.as_mutable<float>()[20] = std::nanf("");
  Tensor grid = coordinates({1, 10, 10, 2});
  for (size_t i = 0; i < 64; ++i) grid.as_mutable<float>()[i] = static_cast<float>(i % 8) / 3.5f - 1;
  grid.as_mutable<float>()[70] = std::nanf("");
  grid.as_mutable<float>()[75] = -INFINITY;
  check_all(image, grid);
}

}  // namespace
}  // namespace tenon::test
