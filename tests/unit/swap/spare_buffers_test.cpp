#include "swap/spare_buffers.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(SpareBuffers, MemoryIsUsedAgain) {
  const auto spare = SpareBuffers::make();
  spare->keep_at_most(1000);
  const void* first = nullptr;
  {
    const Tensor tensor = *spare->take(DType::Float32, {100});
    first = tensor.data();
  }
  EXPECT_EQ(spare->kept_bytes(), 400);
  const Tensor other = *spare->take(DType::Float32, {50});
  EXPECT_NE(other.data(), first);
  const Tensor same = *spare->take(DType::Int32, {10, 10});
  EXPECT_EQ(same.data(), first);
  EXPECT_EQ(spare->kept_bytes(), 0);
}

TEST(SpareBuffers, LargeOnesHaveRoomBehindThem) {
  const auto spare = SpareBuffers::make();
  for (const int64_t bytes : {255 << 10, 256 << 10, (256 << 10) + 4095, 1 << 20}) {
    const Tensor tensor = *spare->take(DType::UInt8, {bytes});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % kBufferAlignment, 0u);
    EXPECT_EQ(static_cast<const char*>(tensor.data())[bytes + static_cast<int64_t>(kBufferAlignment) - 1], 0);
  }
}

TEST(SpareBuffers, KeepsNoMoreThanAsked) {
  const auto spare = SpareBuffers::make();
  spare->keep_at_most(500);
  {
    const Tensor a = *spare->take(DType::Float32, {100}), b = *spare->take(DType::Float32, {100});
  }
  EXPECT_EQ(spare->kept_bytes(), 400);
  spare->keep_at_most(100);
  EXPECT_EQ(spare->kept_bytes(), 0);
}

TEST(SpareBuffers, TensorsOutliveThePool) {
  auto spare = SpareBuffers::make();
  Tensor tensor = *spare->take(DType::Float32, {4});
  spare.reset();
  tensor.as_mutable<float>()[3] = 1;
  EXPECT_EQ(tensor.as<float>()[3], 1);
}

}  // namespace
}  // namespace tenon
