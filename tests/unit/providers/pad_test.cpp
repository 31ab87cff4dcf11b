#include "ops/pad.h"

#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

// A tensor of any type, as bytes.
struct Elements {
  DType dtype;
  std::vector<int64_t> dims;
  Tensor bytes;

  Elements(DType type, const std::vector<int64_t>& extents)
      : dtype(type), dims(extents), bytes(noise({(*storage_bytes(type, count_of(extents)) + 3) / 4}, 1)) {}
  TensorView view() const { return {dtype, dims, bytes.view().data}; }
};

// Pads are all begins, then all ends, for some axes.
std::vector<std::byte> pad(const std::string& provider, const std::string& mode, const Elements& x,
                           const std::vector<int64_t>& pads, const std::vector<int64_t>& axes, bool filled,
                           ThreadPool* pool = nullptr) {
  std::vector<int64_t> dims = x.dims;
  for (size_t i = 0; i < axes.size(); ++i) dims[static_cast<size_t>(axes[i])] += pads[i] + pads[axes.size() + i];
  std::vector<std::byte> y(static_cast<size_t>(*storage_bytes(x.dtype, count_of(dims))), std::byte{0xee});
  const Tensor widths = Tensor::of_ints(pads), named = Tensor::of_ints(axes), fill = noise({4}, 7);
  const TensorView in[] = {x.view(), widths.view(), filled ? TensorView{x.dtype, {}, fill.view().data} : TensorView{},
                           named.view()};
  const TensorView out[] = {{x.dtype, dims, y.data()}};
  const Value* const boxed[] = {nullptr, nullptr, nullptr, nullptr};
  KernelRun services(pool);
  const Status status =
      call_kernel(*find_family(provider + "/Pad"), Params::of(PadParams{mode}), in, boxed, out, services);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return y;
}

void check(const std::vector<int64_t>& dims, const std::vector<int64_t>& pads, std::vector<int64_t> axes = {}) {
  for (size_t i = axes.size(); i < pads.size() / 2; ++i) axes.push_back(static_cast<int64_t>(i));
  ThreadPool pool(1);
  for (const char* mode : {"constant", "edge", "reflect", "wrap"})
    for (const DType dtype : {DType::UInt8, DType::Float16, DType::Float32, DType::Int64, DType::Complex128})
      for (const bool filled : {false, true}) {
        SCOPED_TRACE(testing::Message() << mode << " " << dtype_name(dtype));
        const Elements x(dtype, dims);
        const auto expected = pad("reference", mode, x, pads, axes, filled);
        EXPECT_EQ(pad("cpu", mode, x, pads, axes, filled), expected);
        EXPECT_EQ(pad("cpu", mode, x, pads, axes, filled, &pool), expected);
      }
}

TEST(Pad, TakesEveryModeAndType) {
  check({2, 3, 5, 7}, {0, 0, 1, 1, 0, 0, 1, 1});
  check({2, 3, 5, 7}, {0, 0, 0, 3, 0, 0, 0, 0});
  check({2, 3, 5, 7}, {0, 0, 2, 0, 0, 0, 1, 0});
  check({2, 3, 4}, {1, 2, 0, 1, 1, 0});
  check({9}, {4, 20});
  check({1, 1}, {2, 3, 4, 5});
}

TEST(Pad, CropsAndPads) {
  check({3, 6, 7}, {0, -2, -1, 0, -1, 3});
  check({3, 6, 7}, {-1, 2, -2, 1, -4, 2});
  check({4, 5}, {-1, 0, 1, 0});
}

TEST(Pad, TakesSomeAxes) {
  check({2, 3, 4, 5}, {1, 2, 3, 1}, {3, 1});
  check({2, 3, 4, 5}, {1, 2}, {0});
  check({2, 3, 4, 5}, {0, 0}, {2});
}

TEST(Pad, CutsLargeTensorsIntoChunks) { check({40, 3, 33, 65}, {0, 0, 1, 2, 0, 0, 3, 4}); }

TEST(Pad, TakesEmptyTensors) {
  const Elements x(DType::Float32, {0, 3});
  for (const auto& pads : std::vector<std::vector<int64_t>>{{2, 1, 1, 0}, {0, 0, 0, 1}})
    EXPECT_EQ(pad("cpu", "constant", x, pads, {0, 1}, true), pad("reference", "constant", x, pads, {0, 1}, true));
}

}  // namespace
}  // namespace tenon::test
