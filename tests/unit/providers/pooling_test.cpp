#include "ops/pooling.h"

#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

struct Pooling {
  std::string name;
  OpId op;
  Params params;
};

// A pooling against the reference, whose sums have `terms` elements at most. Equal results unless there are sums.
void check(const Pooling& pooling, const Tensor& x, int64_t terms = 0) {
  const auto run = [&](const char* provider, const Tensor& input, ThreadPool* pool = nullptr) {
    return run_kernel(std::string(provider) + "/" + pooling.name, pooling.op, pooling.params, {input}, pool);
  };
  const Tensor expected = run("reference", x), size = run("reference", absolute(x));
  ThreadPool pool(1);
  for_each_isa([&] {
    const Tensor alone = run("cpu", x);
    if (terms == 0)
      EXPECT_TRUE(same_bits(alone, expected));
    else
      expect_near(alone, expected, size, terms);
    EXPECT_TRUE(same_bits(run("cpu", x, &pool), alone));
  });
}

struct Options {
  bool ceil_mode = false, counts_padding = false;
  std::string auto_pad = "NOTSET";
};

// All poolings with one window.
void check_window(std::vector<int64_t> dims, std::vector<int64_t> kernel, std::vector<int64_t> strides,
                  std::vector<int64_t> pads, std::vector<int64_t> dilations = {}, const Options& options = {}) {
  const WindowParams window{options.auto_pad, kernel, strides, dilations, pads};
  const int64_t taps = std::min(count_of(kernel), count_of(dims));
  const Tensor x = noise(dims, 1);
  check({"MaxPool", OpId::MaxPool, Params::of(MaxPoolParams{window, options.ceil_mode})}, x);
  check({"AveragePool", OpId::AveragePool,
         Params::of(AveragePoolParams{window, options.ceil_mode, options.counts_padding})},
        x, taps + 1);
  for (const float p : {1.0f, 2.0f})
    check({"LpPool", OpId::LpPool, Params::of(LpPoolParams{window, options.ceil_mode, p})}, x, taps + 2);
}

TEST(Pooling, TakesEveryRow) {
  for (const int64_t width : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100}) {
    SCOPED_TRACE(width);
    check_window({2, 3, 5, width}, {1, 1}, {}, {});
    check_window({1, 3, 5, width}, {3, 3}, {}, {1, 1, 1, 1});
    check_window({1, 3, 5, width}, {3, 3}, {2, 2}, {1, 1, 1, 1});
    check_window({1, 3, 4, width + 1}, {2, 2}, {2, 2}, {});
    check_window({1, 3, 5, width + 2}, {2, 3}, {3, 3}, {});
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Pooling, TakesStridesDilationsAndUnevenPads) {
  check_window({1, 4, 13, 17}, {3, 5}, {2, 3}, {0, 1, 2, 3});
  check_window({1, 4, 13, 17}, {3, 3}, {1, 2}, {2, 0, 1, 2}, {2, 3});
  check_window({1, 4, 13, 30}, {2, 4}, {3, 2}, {}, {4, 5});
  check_window({1, 4, 9, 90}, {2, 2}, {5, 7}, {});
}

TEST(Pooling, RoundsExtentsUpAndCountsPadding) {
  for (const bool ceil_mode : {false, true})
    for (const bool counts_padding : {false, true}) {
      const Options options{.ceil_mode = ceil_mode, .counts_padding = counts_padding};
      check_window({1, 3, 8, 11}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {}, options);
      check_window({1, 3, 7, 10}, {3, 2}, {3, 4}, {}, {}, options);
      check_window({1, 3, 7, 10}, {2, 3}, {2, 2}, {1, 2, 0, 1}, {2, 1}, options);
    }
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"})
    check_window({1, 3, 12, 15}, {4, 3}, {2, 2}, {}, {}, {.auto_pad = mode});
}

TEST(Pooling, TakesOneTwoAndThreeAxes) {
  check_window({2, 3, 50}, {5}, {2}, {2, 1});
  check_window({1, 3, 6, 7, 8}, {2, 2, 2}, {2, 2, 2}, {});
  check_window({1, 3, 6, 7, 8}, {3, 2, 3}, {1, 2, 1}, {1, 0, 1, 1, 1, 1}, {2, 1, 1});
}

TEST(Pooling, CutsLongRows) {
  check_window({1, 1, 20'000}, {5}, {2}, {2, 1});
  check_window({1, 1, 10'000}, {4000}, {999}, {});
}

// Most of these windows is padding.
TEST(Pooling, TakesWindowsOfAnySize) {
  const int64_t far = (int64_t{1} << 31) - 1;
  check_window({1, 2, 3, 3}, {far, far}, {}, {far - 3, far - 3, 0, 0});
  check_window({1, 2, 3, 3}, {2, 2}, {far, far}, {});
  check_window({1, 2, 3, 3}, {2, 2}, {}, {far, far, 0, 0}, {far, far});
}

TEST(Pooling, TakesEmptyTensors) {
  check_window({0, 3, 8, 8}, {3, 3}, {}, {});
  check_window({1, 0, 8, 8}, {3, 3}, {}, {});
}

// Windows that lie in the padding, infinities, and NaN, which wins wherever it is.
TEST(Pooling, TakesWhatIsNotFinite) {
  for (int64_t i = 0; i < 30; ++i) {
    Tensor x = noise({1, 1, 5, 6}, 1);
    x.as_mutable<float>()[static_cast<size_t>(i)] = std::nanf("");
    x.as_mutable<float>()[static_cast<size_t>((i + 7) % 30)] = i % 2 ? INFINITY : -INFINITY;
    const MaxPoolParams p{{"NOTSET", {2, 3}, {2, 2}, {}, {}}};
    const auto run = [&](const char* family) { return run_kernel(family, OpId::MaxPool, Params::of(p), {x}); };
    const Tensor expected = run("reference/MaxPool");
    for_each_isa([&] {
      const Tensor actual = run("cpu/MaxPool");
      for (size_t j = 0; j < expected.as<float>().size(); ++j) {
        const float a = actual.as<float>()[j], b = expected.as<float>()[j];
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << a << " instead of " << b;
      }
    });
  }
}

// What a MaxPool gives with the places of its results.
std::pair<std::vector<float>, std::vector<int64_t>> places(const std::string& family, const MaxPoolParams& p,
                                                           const Tensor& x, ThreadPool* pool = nullptr) {
  const Params params = Params::of(p);
  const auto dims = all_output_dims(OpId::MaxPool, params, {x}, 2);
  KernelRun services(pool);
  const auto count = static_cast<size_t>(count_of((*dims)[0]));
  std::pair<std::vector<float>, std::vector<int64_t>> results{std::vector<float>(count), std::vector<int64_t>(count)};
  const TensorView in[] = {x.view()};
  const TensorView out[] = {{DType::Float32, (*dims)[0], reinterpret_cast<std::byte*>(results.first.data())},
                            {DType::Int64, (*dims)[1], reinterpret_cast<std::byte*>(results.second.data())}};
  const Value* const boxed[] = {nullptr};
  const Status status = call_kernel(*find_family(family), params, in, boxed, out, services, isa_of_tests());
  EXPECT_TRUE(status.ok()) << status.to_string();
  return results;
}

TEST(Pooling, FindsThePlacesOfTheLargest) {
  for (const int64_t order : {0, 1})
    for (const auto& [dims, window] : std::vector<std::pair<std::vector<int64_t>, WindowParams>>{
             {{2, 3, 7, 9}, {"NOTSET", {3, 2}, {2, 2}, {}, {1, 1, 1, 1}}},
             {{2, 3, 20}, {"NOTSET", {3}, {1}, {2}, {}}},
             {{1, 2, 5, 6, 7}, {"SAME_UPPER", {2, 2, 3}, {2, 1, 2}, {}, {}}}}) {
      const MaxPoolParams p{window, true, order};
      Tensor x = noise(dims, 1);
      // Equals, of which the first one counts.
      for (float& v : x.as_mutable<float>()) v = std::round(4 * v);
      x.as_mutable<float>()[5] = std::nanf("");
      const auto expected = places("reference/MaxPool", p, x), actual = places("cpu/MaxPool", p, x);
      EXPECT_EQ(actual.second, expected.second);
      EXPECT_TRUE(std::ranges::equal(actual.first, expected.first,
                                     [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }));
      ThreadPool pool(1);
      EXPECT_EQ(places("cpu/MaxPool", p, x, &pool).second, expected.second);
    }
}

TEST(GlobalPooling, TakesEveryPlane) {
  for (const auto& dims : std::vector<std::vector<int64_t>>{
           {2, 3, 7, 7}, {1, 5, 1, 1}, {1, 3, 100, 101}, {3, 4, 17}, {1, 2, 3, 4, 5}, {4, 6}, {0, 3, 5}}) {
    const Tensor x = noise(dims, 1);
    int64_t plane = 1;
    for (size_t i = 2; i < dims.size(); ++i) plane *= dims[i];
    check({"GlobalMaxPool", OpId::GlobalMaxPool, Params::of(NoParams{})}, x);
    check({"GlobalAveragePool", OpId::GlobalAveragePool, Params::of(NoParams{})}, x, plane + 1);
    for (const float p : {1.0f, 2.0f})
      check({"GlobalLpPool", OpId::GlobalLpPool, Params::of(GlobalLpPoolParams{p})}, x, plane + 2);
  }
}

TEST(Pooling, LeavesOtherNormsToThePlainKernel) {
  check({"LpPool", OpId::LpPool, Params::of(LpPoolParams{{"NOTSET", {2}, {}, {}, {}}, false, 3})}, noise({1, 2, 9}, 1));
  check({"GlobalLpPool", OpId::GlobalLpPool, Params::of(GlobalLpPoolParams{3})}, noise({1, 2, 9}, 1));
}

}  // namespace
}  // namespace tenon::test
