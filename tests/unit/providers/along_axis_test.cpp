#include "base/checked_math.h"
#include "ops/reduction.h"
#include "unit/providers/same_kernels.h"

namespace tenon::test {
namespace {

// Each type's numbers, many of which are equal.
Tensor few_numbers_of(DType dtype, const std::vector<int64_t>& dims, uint32_t seed) {
  const Tensor from = noise(dims, seed);
  Tensor to = *Tensor::allocate(dtype, dims, std::make_shared<MemoryBudget>(int64_t{1} << 30));
  const auto fill = [&]<class T>(T) {
    for (size_t i = 0; i < from.as<float>().size(); ++i)
      to.as_mutable<T>()[i] = static_cast<T>(static_cast<float>(static_cast<int>(20 * from.as<float>()[i])));
  };
  if (dtype == DType::Float32) fill(float());
  if (dtype == DType::Float64) fill(double());
  if (dtype == DType::Float16) fill(Float16());
  if (dtype == DType::BFloat16) fill(BFloat16());
  if (dtype == DType::Int64) fill(int64_t());
  if (dtype == DType::Int32) fill(int32_t());
  if (dtype == DType::Int8) fill(int8_t());
  return to;
}

void check_top(const Tensor& x, int64_t axis, int64_t count) {
  std::vector<int64_t> dims = x.dims();
  dims[static_cast<size_t>(axis)] = count;
  for (const bool largest : {false, true})
    expect_same_kernels(OpId::TopK, Params::of(TopKParams{.axis = axis, .largest = largest}),
                        {x, Tensor::of_ints(std::vector<int64_t>{count})}, {{x.dtype(), dims}, {DType::Int64, dims}});
}

TEST(TopK, TakesEveryAxisAndCount) {
  for (int64_t axis = 0; axis < 3; ++axis)
    for (const int64_t count : {1, 2, 5}) check_top(few_numbers_of(DType::Float32, {5, 6, 7}, 1), axis, count);
  for (const int64_t size : {1, 15, 16, 17, 31, 33, 300})
    for (const int64_t count : {int64_t{1}, ceil_div(size, 2), size})
      check_top(few_numbers_of(DType::Float32, {2, size}, 2), 1, count);
}

TEST(TopK, TakesEveryType) {
  for (const DType dtype : {DType::Float64, DType::Float16, DType::BFloat16, DType::Int64, DType::Int32, DType::Int8})
    check_top(few_numbers_of(dtype, {3, 700}, 1), 1, 40);
  for (const DType dtype : {DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64, DType::Int16})
    check_top(noise_of(dtype, {3, 700}, 1), 1, 40);
}

TEST(TopK, LeavesOutMostOfLongLines) {
  for (const int64_t count : {3, 700, 20000}) {
    check_top(noise({1, 40000}, 3), 1, count);
    Tensor rising = noise({1, 40000}, 3);
    for (size_t i = 0; i < 40000; ++i) rising.as_mutable<float>()[i] = static_cast<float>(i / 3);
    check_top(rising, 1, count);
  }
}

TEST(TopK, RanksWhatIsNotFiniteAndZeros) {
  for (size_t i = 0; i < 300; i += 31) {
    Tensor x = few_numbers_of(DType::Float32, {1, 300}, 4);
    auto values = x.as_mutable<float>();
    values[i] = i % 2 ? std::nanf("") : -std::nanf("");
    values[(i + 50) % 300] = std::nanf("");
    values[(i + 90) % 300] = INFINITY;
    values[(i + 150) % 300] = -INFINITY;
    for (size_t k = 0; k < 300; k += 7) values[k] = k % 2 ? -0.0f : 0.0f;
    check_top(x, 1, 200);
    std::vector<double> wide(values.begin(), values.end());
    check_top(Tensor::of<double>({1, 300}, wide), 1, 200);
  }
}

void check_scan(OpId op, const Tensor& x, int64_t axis, bool is_exact) {
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true}) {
      SCOPED_TRACE(testing::Message() << "axis " << axis << " exclusive " << exclusive << " reverse " << reverse);
      const Params p = Params::of(CumulativeParams{.exclusive = exclusive, .reverse = reverse});
      const std::vector<Tensor> in{x, Tensor::scalar(axis)};
      const std::vector<OutputType> out{{x.dtype(), x.dims()}};
      if (is_exact) {
        expect_same_kernels(op, p, in, out);
        continue;
      }
      const Tensor expected = run_reference(op, p, in, out).outputs[0];
      const Tensor size = run_reference(op, p, {absolute(x), in[1]}, out).outputs[0];
      for_each_cpu_run(op, p, in, out, [&](const TypedRun& actual) {
        expect_near(actual.outputs[0], expected, size, x.dims()[static_cast<size_t>(axis)]);
      });
    }
}

TEST(Cumulative, SumsEveryAxis) {
  for (const auto& dims : {std::vector<int64_t>{1}, {3000}, {17, 30}, {3, 5, 7}, {20, 2100}, {2, 9, 1030}})
    for (size_t axis = 0; axis < dims.size(); ++axis)
      check_scan(OpId::CumSum, noise(dims, 1), static_cast<int64_t>(axis), false);
}

TEST(Cumulative, IsExactWhereNothingIsRounded) {
  for (const DType dtype : {DType::Int64, DType::Int32, DType::Float64, DType::Float16})
    for (const auto& dims : {std::vector<int64_t>{3000}, {17, 30}, {5, 4, 1100}})
      for (size_t axis = 0; axis < dims.size(); ++axis)
        check_scan(OpId::CumSum, few_numbers_of(dtype, dims, 1), static_cast<int64_t>(axis), true);
  for (const DType dtype : {DType::Int64, DType::UInt8})
    for (int64_t axis = 0; axis < 2; ++axis) check_scan(OpId::CumProd, noise_of(dtype, {40, 30}, 1), axis, true);
  for (int64_t axis = 0; axis < 2; ++axis) check_scan(OpId::CumProd, noise({40, 30}, 1), axis, true);
}

TEST(Cumulative, RefusesAnAxisThatIsNotThere) {
  expect_same_kernels(OpId::CumSum, Params::of(CumulativeParams{}), {noise({3, 4}, 1), Tensor::scalar(2)},
                      {{DType::Float32, {3, 4}}});
}

}  // namespace
}  // namespace tenon::test
