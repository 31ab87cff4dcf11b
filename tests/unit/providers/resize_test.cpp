#include "ops/resize.h"

#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

// Output dims follow from the scales: one for each axis.
Tensor resize(const std::string& provider, const ResizeParams& p, const Tensor& x, const std::vector<float>& scales,
              ThreadPool* pool = nullptr) {
  const auto plan = plan_resize(p, x.dims(), scales, {});
  EXPECT_TRUE(plan.ok()) << plan.status().to_string();
  std::vector<int64_t> dims;
  for (const AxisResize& axis : *plan) dims.push_back(axis.to);
  KernelRun services(pool);
  Tensor y = *Tensor::allocate(DType::Float32, dims, services.budget());
  for (float& v : y.as_mutable<float>()) v = std::nanf("");
  const Tensor factors = Tensor::of<float>({static_cast<int64_t>(scales.size())}, scales);
  const TensorView in[] = {x.view(), {}, factors.view()}, out[] = {y.view()};
  const Value* const boxed[] = {nullptr, nullptr, nullptr};
  const Status status =
      call_kernel(*find_family(provider + "/Resize"), Params::of(p), in, boxed, out, services, isa_of_tests());
  EXPECT_TRUE(status.ok()) << status.to_string();
  return y;
}

// The largest sum of the sizes of weights along an axis: that of the cubic kernel with a = -0.75 is below 1.6, and
// a normalized one is below 3.
constexpr float kWeightSize = 3;

void check(const ResizeParams& p, const std::vector<int64_t>& dims, const std::vector<float>& scales) {
  const Tensor x = noise(dims, 1), expected = resize("reference", p, x, scales);
  Tensor size = expected.defined() ? absolute(expected) : Tensor();
  for (float& v : size.as_mutable<float>()) v = kWeightSize * kWeightSize * kWeightSize;
  ThreadPool pool(1);
  for_each_isa([&] {
    const Tensor alone = resize("cpu", p, x, scales);
    // Weights are rounded for each axis, then products and sums of up to 16 rows and 4 columns.
    if (p.mode == "nearest")
      EXPECT_TRUE(same_bits(alone, expected));
    else
      expect_near(alone, expected, size, 16 + 4 + 6);
    EXPECT_TRUE(same_bits(resize("cpu", p, x, scales, &pool), alone));
  });
}

constexpr const char* kCoordinates[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                        "align_corners", "asymmetric",           "tf_half_pixel_for_nn"};

const std::vector<std::pair<std::vector<int64_t>, std::vector<float>>> kResizes = {
    {{2, 3, 5, 7}, {1, 1, 2, 2}},
    {{1, 3, 5, 17}, {1, 1, 4, 4}},
    {{1, 3, 5, 7}, {1, 1, 3, 3}},
    {{1, 3, 9, 40}, {1, 1, 0.5f, 0.5f}},
    {{1, 3, 9, 40}, {1, 1, 1, 1.7f}},
    {{1, 3, 9, 40}, {1, 1, 2.3f, 1}},
    {{1, 2, 4, 5, 6}, {1, 1, 2, 1.5f, 2}},
    {{3, 20}, {1, 2.6f}},
    {{20}, {0.3f}},
    {{1, 3, 1, 1}, {1, 1, 5, 6}},
    {{1, 3, 6, 5}, {1, 1, 0.2f, 0.2f}}};

TEST(Resize, PicksTheNearest) {
  for (const char* coordinates : kCoordinates)
    for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "old"})
      for (const auto& [dims, scales] : kResizes) {
        SCOPED_TRACE(testing::Message() << coordinates << ", " << rounding << ", scale " << scales.back());
        check({.coordinate_transformation_mode = coordinates, .nearest_mode = rounding}, dims, scales);
        if (testing::Test::HasFatalFailure()) return;
      }
}

TEST(Resize, Interpolates) {
  for (const char* coordinates : kCoordinates)
    for (const char* mode : {"linear", "cubic"})
      for (const bool exclude_outside : {false, true})
        for (const auto& [dims, scales] : kResizes) {
          SCOPED_TRACE(testing::Message() << coordinates << ", " << mode << ", scale " << scales.back());
          check({.coordinate_transformation_mode = coordinates, .exclude_outside = exclude_outside, .mode = mode}, dims,
                scales);
          if (testing::Test::HasFatalFailure()) return;
        }
}

TEST(Resize, TakesRowsOfEveryLength) {
  for (const int64_t width : {1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 100})
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      SCOPED_TRACE(testing::Message() << mode << ", " << width);
      for (const float scale : {1.0f, 2.0f, 2.5f, 4.0f, 7.0f})
        check({.mode = mode}, {1, 2, 3, width}, {1, 1, 2, scale});
      if (testing::Test::HasFatalFailure()) return;
    }
}

// An element that no weight looks at may be anything.
TEST(Resize, DoesNotTouchWhatHasNoWeight) {
  Tensor x = noise({1, 1, 4, 6}, 1);
  x.as_mutable<float>()[9] = INFINITY;
  for (const char* mode : {"linear", "cubic"}) {
    const ResizeParams p{.coordinate_transformation_mode = "align_corners", .mode = mode};
    const std::vector<float> scales{1, 1, 1.75f, 1.8334f};
    const Tensor expected = resize("reference", p, x, scales);
    for_each_isa([&] {
      const Tensor actual = resize("cpu", p, x, scales);
      for (size_t i = 0; i < expected.as<float>().size(); ++i) {
        const float a = actual.as<float>()[i], b = expected.as<float>()[i];
        EXPECT_EQ(std::isfinite(a), std::isfinite(b)) << i << ": " << a << " instead of " << b;
      }
    });
  }
}

TEST(Resize, LeavesTheRestToThePlainKernel) {
  const ResizeParams filtered{.antialias = true, .mode = "linear"};
  check(filtered, {1, 2, 8, 9}, {1, 1, 0.5f, 0.4f});
  // The scale moves elements of an axis whose extent stays.
  check({.mode = "linear"}, {3, 2, 4, 5}, {1.2f, 1, 2, 2});
  check({.nearest_mode = "ceil"}, {3, 2, 4, 5}, {1.2f, 1, 2, 2});
  check({.mode = "linear"}, {3, 2, 4, 5}, {2, 1, 2, 2});
}

}  // namespace
}  // namespace tenon::test
