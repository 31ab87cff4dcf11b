#include "tensor/canonical.h"

#include <gmock/gmock.h>

#include <array>

namespace tenon {
namespace {

using testing::ElementsAre;

template <size_t N>
Tensor over(std::array<uint8_t, N>& bytes, DType dtype, int64_t count) {
  return Tensor::borrow(dtype, {count}, bytes.data(), nullptr);
}

std::vector<uint8_t> bytes_of(const Tensor& tensor) {
  const auto* data = static_cast<const uint8_t*>(tensor.data());
  return {data, data + tensor.bytes()};
}

TEST(Canonical, BooleansAreZeroOrOne) {
  std::array<uint8_t, 5> bytes = {0, 1, 127, 255, 2};
  const auto tensor = canonical(over(bytes, DType::Bool, 5), nullptr);
  ASSERT_TRUE(tensor.ok());
  EXPECT_THAT(bytes_of(*tensor), ElementsAre(0, 1, 1, 1, 1));
  EXPECT_THAT(bytes, ElementsAre(0, 1, 127, 255, 2)) << "the caller's memory stays as it is";
}

TEST(Canonical, CopiesNothingThatIsRight) {
  std::array<uint8_t, 3> bytes = {0, 1, 1};
  EXPECT_EQ(canonical(over(bytes, DType::Bool, 3), nullptr)->data(), bytes.data());
  std::array<uint8_t, 2> others = {200, 255};
  EXPECT_EQ(canonical(over(others, DType::UInt8, 2), nullptr)->data(), others.data());
}

TEST(Canonical, BitsBehindPackedElementsAreZero) {
  std::array<uint8_t, 2> bytes = {0x21, 0xf3};
  const auto tensor = canonical(over(bytes, DType::UInt4, 3), nullptr);
  EXPECT_THAT(bytes_of(*tensor), ElementsAre(0x21, 0x03));
}

TEST(Canonical, LooksIntoContainers) {
  std::array<uint8_t, 1> bytes = {9};
  const Tensor mask = over(bytes, DType::Bool, 1);
  const auto sequence = canonical(Value(Sequence{Type::tensor(DType::Bool), {mask}}), nullptr);
  EXPECT_THAT(bytes_of(*sequence->sequence()->items[0].tensor()), ElementsAre(1));
  const auto optional =
      canonical(Value(Optional{Type::tensor(DType::Bool), std::make_shared<const Value>(mask)}), nullptr);
  EXPECT_THAT(bytes_of(*optional->optional()->item->tensor()), ElementsAre(1));
  const auto map = canonical(Value(Map{DType::Int64, DType::Bool, {3}, {}, mask}), nullptr);
  EXPECT_THAT(bytes_of(map->map()->values), ElementsAre(1));
  EXPECT_THAT(map->map()->int_keys, ElementsAre(3));
}

TEST(Canonical, ThereIsOneNaN) {
  std::vector<uint32_t> floats = {0x7f800000, 0xff800000, 0x7f800001, 0xffc00000, 0x3f800000, 0x80000000};
  make_nans_canonical(Tensor::borrow(DType::Float32, {6}, floats.data(), nullptr).view());
  EXPECT_THAT(floats, ElementsAre(0x7f800000, 0xff800000, 0x7fc00000, 0x7fc00000, 0x3f800000, 0x80000000));
  std::vector<uint64_t> doubles = {0xfff8000000000001u, 0xfff0000000000000u};
  make_nans_canonical(Tensor::borrow(DType::Float64, {2}, doubles.data(), nullptr).view());
  EXPECT_THAT(doubles, ElementsAre(0x7ff8000000000000u, 0xfff0000000000000u));
  std::vector<uint16_t> halves = {0xfe01, 0x7c00};
  make_nans_canonical(Tensor::borrow(DType::Float16, {2}, halves.data(), nullptr).view());
  EXPECT_THAT(halves, ElementsAre(0x7e00, 0x7c00));
  std::array<uint8_t, 3> bytes = {0xff, 0x7e, 0x7d};
  make_nans_canonical(over(bytes, DType::Float8E5M2, 3).view());
  EXPECT_THAT(bytes, ElementsAre(0x7e, 0x7e, 0x7e));
  bytes = {0xff, 0x7e, 0x7d};
  make_nans_canonical(over(bytes, DType::Float8E4M3FN, 3).view());
  EXPECT_THAT(bytes, ElementsAre(0x7f, 0x7e, 0x7d));
}

}  // namespace
}  // namespace tenon
