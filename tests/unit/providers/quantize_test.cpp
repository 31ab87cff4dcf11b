#include "ops/quantize.h"
#include "unit/providers/same_kernels.h"

namespace tenon::test {
namespace {

void check(const std::vector<int64_t>& dims, int64_t axis, int64_t scales, DType narrow, bool has_zero) {
  SCOPED_TRACE(testing::Message() << "axis " << axis << ", " << scales << " scales, " << dtype_name(narrow));
  Tensor x = noise(dims, 1);
  for (float& v : x.as_mutable<float>()) v = std::round(64 * v) / 8;  // many halves after the division
  Tensor scale = noise(scales == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{scales}, 2);
  for (float& s : scale.as_mutable<float>()) s = scales == 1 ? 0.25f : std::fabs(s) / 20 + 0.01f;
  const Tensor zero = has_zero ? noise_of(narrow, scale.dims(), 3) : Tensor();
  const Params quantize = Params::of(QuantizeLinearParams{.axis = axis, .output_dtype = narrow});
  expect_same_kernels(OpId::QuantizeLinear, quantize, {x, scale, zero}, {{narrow, dims}});
  expect_same_kernels(OpId::DequantizeLinear, Params::of(DequantizeLinearParams{.axis = axis}),
                      {noise_of(narrow, dims, 4), scale, zero}, {{DType::Float32, dims}});
}

TEST(QuantizeRows, IsExact) {
  for (const DType narrow : {DType::Int8, DType::UInt8})
    for (const bool has_zero : {false, true}) {
      for (const int64_t size : {1, 3, 15, 16, 17, 33, 40000}) check({size}, 0, 1, narrow, has_zero);
      for (int64_t axis = -3; axis < 3; ++axis)
        check({4, 4, 37}, axis, axis % 3 == 2 || axis == -1 ? 37 : 4, narrow, has_zero);
      check({2, 3, 20000}, 1, 3, narrow, has_zero);
    }
}

TEST(QuantizeRows, SaturatesWhatIsTooLarge) {
  const std::vector<float> values{1e30f,  -1e30f, INFINITY, -INFINITY, std::nanf(""), 0,     -0.0f,  127.5f, 128.5f,
                                  254.5f, 255.5f, -128.5f,  -127.5f,   1e-40f,        300.f, -300.f, 1000,   -1000};
  const std::vector<int64_t> dims{static_cast<int64_t>(values.size())};
  for (const DType narrow : {DType::Int8, DType::UInt8})
    expect_same_kernels(OpId::QuantizeLinear, Params::of(QuantizeLinearParams{.output_dtype = narrow}),
                        {Tensor::of<float>(dims, values), Tensor::of<float>({}, std::vector<float>{1})},
                        {{narrow, dims}});
}

}  // namespace
}  // namespace tenon::test
