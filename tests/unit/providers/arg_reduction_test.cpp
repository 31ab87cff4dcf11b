#include "ops/reduction.h"
#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

std::vector<int64_t> places(const std::string& provider, OpId op, const ArgReductionParams& p, const Tensor& x,
                            ThreadPool* pool = nullptr) {
  const auto dims = output_dims(op, Params::of(p), {x});
  EXPECT_TRUE(dims.ok()) << dims.status().to_string();
  std::vector<int64_t> y(static_cast<size_t>(count_of(*dims)), -7);
  const TensorView in[] = {x.view()}, out[] = {{DType::Int64, *dims, y.data()}};
  const Value* const boxed[] = {nullptr};
  KernelRun services(pool);
  const std::string family = provider + (op == OpId::ArgMax ? "/ArgMax" : "/ArgMin");
  const Status status = call_kernel(*find_family(family), Params::of(p), in, boxed, out, services, isa_of_tests());
  EXPECT_TRUE(status.ok()) << status.to_string();
  return y;
}

// Both ops along every axis, with the first and the last of equals.
void check(const Tensor& x) {
  ThreadPool pool(1);
  for (const OpId op : {OpId::ArgMax, OpId::ArgMin})
    for (int64_t axis = 0; axis < static_cast<int64_t>(x.dims().size()); ++axis)
      for (const bool last : {false, true}) {
        SCOPED_TRACE(testing::Message() << "axis " << axis << ", last " << last);
        const ArgReductionParams p{.axis = axis, .select_last_index = last};
        const auto expected = places("reference", op, p, x);
        for_each_isa([&] {
          EXPECT_EQ(places("cpu", op, p, x), expected);
          EXPECT_EQ(places("cpu", op, p, x, &pool), expected);
        });
      }
}

// Numbers with many equals.
Tensor few_numbers(std::vector<int64_t> dims) {
  Tensor x = noise(std::move(dims), 1);
  for (float& v : x.as_mutable<float>()) v = std::round(3 * v);
  return x;
}

TEST(ArgReduction, TakesEveryExtent) {
  for (const int64_t size : {1, 2, 7, 15, 16, 17, 33, 64, 65, 130}) {
    SCOPED_TRACE(size);
    check(few_numbers({3, size, 5}));
    check(few_numbers({2, 4, size}));
    check(noise({size}, 2));
  }
}

TEST(ArgReduction, CutsLargeTensorsIntoChunks) { check(noise({3, 70, 300}, 1)); }

TEST(ArgReduction, FindsWhatIsNotFinite) {
  for (size_t i = 0; i < 60; i += 7) {
    Tensor x = few_numbers({3, 20});
    x.as_mutable<float>()[i] = std::nanf("");
    x.as_mutable<float>()[(i + 5) % 60] = i % 2 ? std::nanf("") : INFINITY;
    x.as_mutable<float>()[(i + 11) % 60] = -INFINITY;
    check(x);
  }
  Tensor equal = few_numbers({4, 5});
  for (float& v : equal.as_mutable<float>()) v = -INFINITY;
  check(equal);
  for (float& v : equal.as_mutable<float>()) v = std::nanf("");
  check(equal);
}

TEST(ArgReduction, LeavesNegativeAxesAndOtherTypesRight) {
  const Tensor x = few_numbers({3, 4, 5});
  const ArgReductionParams p{.axis = -2, .keepdims = false};
  EXPECT_EQ(places("cpu", OpId::ArgMax, p, x), places("reference", OpId::ArgMax, p, x));
  const Tensor integers = Tensor::of_ints(std::vector<int64_t>{4, 9, 9, 1});
  EXPECT_EQ(places("cpu", OpId::ArgMax, {}, integers), std::vector<int64_t>{1});
}

}  // namespace
}  // namespace tenon::test
