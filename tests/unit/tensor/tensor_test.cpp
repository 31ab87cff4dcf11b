#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <limits>

#include "tensor/type.h"

namespace tenon {
namespace {

TEST(DType, NamesAndCodesAgree) {
  for (int code = 1; code <= 28; ++code) {
    auto dtype = dtype_from_onnx(code);
    ASSERT_TRUE(dtype);
    EXPECT_EQ(dtype_from_name(dtype_name(*dtype)), dtype);
  }
  EXPECT_FALSE(dtype_from_onnx(0));
  EXPECT_FALSE(dtype_from_onnx(29));
}

TEST(DType, SubByteStorageRoundsUp) {
  EXPECT_EQ(storage_bytes(DType::Int4, 3), 2);
  EXPECT_EQ(storage_bytes(DType::UInt2, 5), 2);
  EXPECT_EQ(storage_bytes(DType::Float4E2M1, 0), 0);
  EXPECT_EQ(storage_bytes(DType::Float6E2M3, 4), 3);
  EXPECT_EQ(storage_bytes(DType::Float6E3M2, 5), 4);
  EXPECT_EQ(storage_bytes(DType::Float64, int64_t{1} << 62), std::nullopt);
}

TEST(Tensor, PackingIsReversible) {
  const int8_t values[] = {-8, 7, -1, 0, 5};
  uint8_t packed[3], unpacked[5];
  pack_sub_byte(DType::Int4, values, 5, packed);
  EXPECT_EQ(packed[0], 0x78);
  EXPECT_EQ(packed[2], 0x05);
  unpack_sub_byte(DType::Int4, packed, 5, unpacked);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(static_cast<int8_t>(unpacked[i]), values[i]);
}

TEST(Tensor, SixBitPackingIsReversible) {
  uint8_t values[9], packed[7], unpacked[9];
  for (int i = 0; i < 9; ++i) values[i] = static_cast<uint8_t>(i * 37 & 63);
  pack_sub_byte(DType::Float6E2M3, values, 9, packed);
  EXPECT_EQ(packed[0], 0x40);  // 0, then the low bits of 37
  EXPECT_EQ(packed[1], 0xA9);  // the rest of 37, then the low bits of 10
  unpack_sub_byte(DType::Float6E2M3, packed, 9, unpacked);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(unpacked[i], values[i]);
}

TEST(Tensor, ZeroAmongHugeDimsMeansEmpty) {
  const int64_t dims[] = {int64_t{1} << 40, int64_t{1} << 40, 0};
  EXPECT_EQ((TensorView{DType::Float32, dims, nullptr}.size()), 0);
}

TEST(Tensor, BudgetIsHeldUntilTheLastCopyGoes) {
  auto budget = std::make_shared<MemoryBudget>(1000);
  auto tensor = Tensor::allocate(DType::Float32, {10, 10}, budget);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(budget->used(), 400);
  auto too_large = Tensor::allocate(DType::Float32, {200}, budget);
  EXPECT_EQ(too_large.status().code(), Code::ResourceLimit);
  {
    Tensor copy = *tensor;
    tensor = Result<Tensor>(Tensor());
    EXPECT_EQ(budget->used(), 400);
  }
  EXPECT_EQ(budget->used(), 0);
  EXPECT_EQ(budget->peak(), 400);
}

TEST(Tensor, ManyEmptyTensorsMeetTheLimit) {
  auto budget = std::make_shared<MemoryBudget>(1000);
  std::vector<Tensor> kept;
  for (DType dtype : {DType::Float32, DType::String}) {
    auto empty = Tensor::allocate(dtype, {0}, budget);
    ASSERT_TRUE(empty.ok());
    kept.push_back(std::move(*empty));
  }
  EXPECT_GE(budget->used(), 100);
  kept.clear();
  EXPECT_EQ(budget->used(), 0);
}

TEST(Tensor, ReservationsDoNotOverflow) {
  MemoryBudget budget(std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(budget.reserve(10).ok());
  EXPECT_EQ(budget.reserve(std::numeric_limits<int64_t>::max()).code(), Code::ResourceLimit);
  EXPECT_EQ(budget.used(), 10);
}

TEST(Tensor, ImpossibleShapesAreRefused) {
  EXPECT_FALSE(Tensor::allocate(DType::Float32, {-1}, nullptr).ok());
  EXPECT_FALSE(Tensor::allocate(DType::Float32, {int64_t{1} << 40, int64_t{1} << 40}, nullptr).ok());
  EXPECT_TRUE(Tensor::allocate(DType::Float32, {int64_t{1} << 40, 0}, nullptr).ok());
}

TEST(Type, MergeKeepsWhatEitherKnows) {
  const Type a = Type::tensor(DType::Float32, Shape{Dim::symbol("n"), Dim(3)});
  const Type b = Type::tensor(DType::Undefined, Shape{Dim(2), Dim::symbol("c")});
  auto both = merge(a, b);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->to_string(), "float[2, 3]");
  EXPECT_FALSE(merge(a, Type::tensor(DType::Int64)));
  EXPECT_FALSE(merge(a, Type::tensor(DType::Float32, Shape{Dim(1)})));
  EXPECT_FALSE(merge(a, Type::sequence(a)));
}

}  // namespace
}  // namespace tenon
