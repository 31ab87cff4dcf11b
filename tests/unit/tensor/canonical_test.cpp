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

}  // namespace
}  // namespace tenon
