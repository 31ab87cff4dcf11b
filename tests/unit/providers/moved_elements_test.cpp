#include "ops/diagonal.h"
#include "ops/fill.h"
#include "ops/gather.h"
#include "ops/scatter.h"
#include "unit/providers/same_kernels.h"

namespace tenon::test {
namespace {

const DType kTypes[] = {DType::Float32, DType::Float64, DType::UInt8, DType::Float16, DType::Complex128, DType::Int4};

TEST(GatherElements, TakesEveryAxisAndType) {
  for (const DType dtype : kTypes)
    for (int64_t axis = -3; axis < 3; ++axis)
      for (const DType index : {DType::Int64, DType::Int32}) {
        SCOPED_TRACE(testing::Message() << dtype_name(dtype) << " axis " << axis);
        const std::vector<int64_t> data{4, 5, 6}, taken{3, 4, 5};
        const int64_t extent = data[static_cast<size_t>(axis < 0 ? axis + 3 : axis)];
        expect_same_kernels(OpId::GatherElements, Params::of(GatherParams{.axis = axis}),
                            {noise_of(dtype, data, 1), indices_below(extent, taken, 2, index)}, {{dtype, taken}});
      }
}

TEST(GatherElements, CutsLongAndManyRows) {
  for (const auto& dims : {std::vector<int64_t>{40000}, {2, 9000}, {9000, 3}, {3, 50, 70}})
    for (size_t axis = 0; axis < dims.size(); ++axis)
      expect_same_kernels(OpId::GatherElements, Params::of(GatherParams{.axis = static_cast<int64_t>(axis)}),
                          {noise_of(DType::Float32, dims, 1), indices_below(dims[axis], dims, 2)},
                          {{DType::Float32, dims}});
}

TEST(GatherElements, NamesTheFirstIndexOutside) {
  Tensor indices = indices_below(9000, {2, 9000}, 2);
  indices.as_mutable<int64_t>()[17000] = 9000;
  indices.as_mutable<int64_t>()[8500] = -9001;
  expect_same_kernels(OpId::GatherElements, Params::of(GatherParams{.axis = 1}),
                      {noise_of(DType::Float32, {2, 9000}, 1), indices}, {{DType::Float32, {2, 9000}}});
}

TEST(GatherND, TakesEveryDepthAndBatch) {
  for (const DType dtype : kTypes)
    for (int64_t batch = 0; batch < 2; ++batch)
      for (int64_t depth = 1; depth + batch <= 3; ++depth) {
        SCOPED_TRACE(testing::Message() << dtype_name(dtype) << " batch " << batch << " depth " << depth);
        std::vector<int64_t> out{4, 7};
        for (int64_t i = batch + depth; i < 3; ++i) out.push_back(4);
        expect_same_kernels(OpId::GatherND, Params::of(GatherNDParams{.batch_dims = batch}),
                            {noise_of(dtype, {4, 4, 4}, 1), indices_below(4, {4, 7, depth}, 2)}, {{dtype, out}});
      }
}

TEST(GatherND, CutsLongBlocksAndManyRows) {
  expect_same_kernels(OpId::GatherND, Params::of(GatherNDParams{}),
                      {noise_of(DType::Float32, {5, 20000}, 1), indices_below(5, {3, 1}, 2)},
                      {{DType::Float32, {3, 20000}}});
  expect_same_kernels(OpId::GatherND, Params::of(GatherNDParams{}),
                      {noise_of(DType::Float32, {50, 60}, 1), indices_below(50, {20000, 2}, 2)},
                      {{DType::Float32, {20000}}});
  Tensor outside = indices_below(50, {20000, 2}, 2);
  outside.as_mutable<int64_t>()[30001] = 60;
  outside.as_mutable<int64_t>()[39000] = 60;
  expect_same_kernels(OpId::GatherND, Params::of(GatherNDParams{}), {noise_of(DType::Float32, {50, 60}, 1), outside},
                      {{DType::Float32, {20000}}});
}

TEST(ScatterElements, KeepsTheOrderOfUpdates) {
  for (const auto& dims : {std::vector<int64_t>{30000}, {20, 900}, {900, 20}, {40, 3, 300}, {4, 5, 6}})
    for (size_t axis = 0; axis < dims.size(); ++axis)
      for (const std::string reduction : {"none", "add", "mul", "max", "min"}) {
        SCOPED_TRACE(testing::Message() << "axis " << axis << " of " << dims.size() << ", " << reduction);
        const ScatterElementsParams p{.axis = static_cast<int64_t>(axis), .reduction = reduction};
        // Few places, so that many updates meet.
        const Tensor indices = indices_below(std::min<int64_t>(3, dims[axis]), dims, 2);
        expect_same_kernels(OpId::ScatterElements, Params::of(p), {noise(dims, 1), indices, noise(dims, 3)},
                            {{DType::Float32, dims}});
      }
}

TEST(ScatterElements, TakesEveryType) {
  const std::vector<int64_t> dims{6, 7};
  for (const DType dtype : kTypes)
    expect_same_kernels(OpId::ScatterElements, Params::of(ScatterElementsParams{.axis = -1}),
                        {noise_of(dtype, dims, 1), indices_below(7, dims, 2), noise_of(dtype, dims, 3)},
                        {{dtype, dims}});
  for (const DType dtype : {DType::Int8, DType::UInt64, DType::Int32, DType::Bool})
    for (const std::string reduction : {"add", "mul", "max", "min"})
      expect_same_kernels(OpId::ScatterElements, Params::of(ScatterElementsParams{.axis = 0, .reduction = reduction}),
                          {noise_of(dtype, dims, 1), indices_below(6, dims, 2), noise_of(dtype, dims, 3)},
                          {{dtype, dims}});
}

TEST(ScatterElements, NamesAnIndexOutside) {
  Tensor indices = indices_below(20, {20, 900}, 2);
  indices.as_mutable<int64_t>()[700] = 20;
  expect_same_kernels(OpId::ScatterElements, Params::of(ScatterElementsParams{.axis = 0}),
                      {noise({20, 900}, 1), indices, noise({20, 900}, 3)}, {{DType::Float32, {20, 900}}});
}

TEST(ScatterND, KeepsTheOrderOfUpdates) {
  for (const std::string reduction : {"none", "add", "mul", "max", "min"}) {
    const Params p = Params::of(ScatterNDParams{.reduction = reduction});
    expect_same_kernels(OpId::ScatterND, p, {noise({50, 40}, 1), indices_below(40, {300, 2}, 2), noise({300}, 3)},
                        {{DType::Float32, {50, 40}}});
    // Several parts of a grid.
    expect_same_kernels(OpId::ScatterND, p,
                        {noise({100, 3, 300}, 1), indices_below(100, {500, 1}, 2), noise({500, 3, 300}, 3)},
                        {{DType::Float32, {100, 3, 300}}});
  }
  for (const DType dtype : kTypes)
    expect_same_kernels(OpId::ScatterND, Params::of(ScatterNDParams{}),
                        {noise_of(dtype, {9, 4}, 1), indices_below(9, {5, 1}, 2), noise_of(dtype, {5, 4}, 3)},
                        {{dtype, {9, 4}}});
}

TEST(ScatterND, NamesAnIndexOutside) {
  Tensor indices = indices_below(100, {500, 1}, 2);
  indices.as_mutable<int64_t>()[300] = -101;
  expect_same_kernels(OpId::ScatterND, Params::of(ScatterNDParams{}),
                      {noise({100, 900}, 1), indices, noise({500, 900}, 3)}, {{DType::Float32, {100, 900}}});
}

TEST(Trilu, CutsAtEveryDiagonal) {
  for (const DType dtype : kTypes)
    for (const bool upper : {false, true})
      for (const int64_t k : {-9, -5, -2, 0, 1, 6, 7, 100}) {
        SCOPED_TRACE(testing::Message() << dtype_name(dtype) << " k " << k << " upper " << upper);
        expect_same_kernels(OpId::Trilu, Params::of(TriluParams{.upper = upper}),
                            {noise_of(dtype, {3, 5, 7}, 1), Tensor::scalar(k)}, {{dtype, {3, 5, 7}}});
      }
  expect_same_kernels(OpId::Trilu, Params::of(TriluParams{}), {noise({300, 200}, 1)}, {{DType::Float32, {300, 200}}});
  for (const int64_t k : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()})
    expect_same_kernels(OpId::Trilu, Params::of(TriluParams{.upper = k < 0}), {noise({5, 4}, 1), Tensor::scalar(k)},
                        {{DType::Float32, {5, 4}}});
}

TEST(EyeLike, SetsEveryDiagonal) {
  for (const DType dtype : {DType::Float32, DType::Float16, DType::Int64, DType::Bool})
    for (const int64_t k : {-100, -5, -4, 0, 3, 6, 7, 100})
      expect_same_kernels(OpId::EyeLike, Params::of(EyeLikeParams{.dtype = dtype, .k = k}), {noise({5, 7}, 1)},
                          {{dtype, {5, 7}}});
  expect_same_kernels(OpId::EyeLike, Params::of(EyeLikeParams{}), {noise({300, 200}, 1)},
                      {{DType::Float32, {300, 200}}});
}

TEST(ConstantOfShape, FillsEveryTypeAndSize) {
  for (const int64_t size : {1, 5, 4097, 300000})
    for (const DType dtype : kTypes) {
      SCOPED_TRACE(testing::Message() << dtype_name(dtype) << " " << size);
      expect_same_kernels(OpId::ConstantOfShape, Params::of(ConstantOfShapeParams{.value = noise_of(dtype, {1}, 5)}),
                          {Tensor::of_ints(std::vector<int64_t>{size})}, {{dtype, {size}}});
    }
  expect_same_kernels(OpId::ConstantOfShape, Params::of(ConstantOfShapeParams{}),
                      {Tensor::of_ints(std::vector<int64_t>{7})}, {{DType::Float32, {7}}});
}

TEST(OneHot, SetsEveryAxis) {
  for (const DType index : {DType::Int64, DType::Int32})
    for (const DType dtype : {DType::Float32, DType::Int64, DType::UInt8})
      for (int64_t axis = -3; axis < 3; ++axis) {
        std::vector<int64_t> out{4, 6};
        out.insert(out.begin() + (axis < 0 ? axis + 3 : axis), 5);
        // Some indices have no place in the axis.
        expect_same_kernels(OpId::OneHot, Params::of(OneHotParams{.axis = axis}),
                            {indices_below(7, {4, 6}, 2, index), Tensor::scalar(5), noise_of(dtype, {2}, 3)},
                            {{dtype, out}});
      }
}

TEST(Tile, RepeatsEveryAxis) {
  for (const DType dtype : kTypes)
    for (const auto& repeats : {std::vector<int64_t>{1, 1, 1}, {2, 1, 3}, {1, 4, 1}, {3, 2, 2}}) {
      const std::vector<int64_t> out{3 * repeats[0], 4 * repeats[1], 5 * repeats[2]};
      expect_same_kernels(OpId::Tile, default_params(OpId::Tile),
                          {noise_of(dtype, {3, 4, 5}, 1), Tensor::of_ints(repeats)}, {{dtype, out}});
    }
  expect_same_kernels(OpId::Tile, default_params(OpId::Tile),
                      {noise({1, 1, 30, 70}, 1), Tensor::of_ints(std::vector<int64_t>{40, 3, 1, 1})},
                      {{DType::Float32, {40, 3, 30, 70}}});
}

}  // namespace
}  // namespace tenon::test
