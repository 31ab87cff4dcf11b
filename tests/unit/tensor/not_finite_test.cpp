#include "tensor/not_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon {
namespace {

template <class T>
bool found(std::vector<T> values) {
  return has_not_finite(Tensor::of<T>({static_cast<int64_t>(values.size())}, std::span<const T>(values)).view());
}

TEST(NotFinite, FindsOneAnywhere) {
  for (const float bad :
       {std::nanf(""), -std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()})
    for (size_t count = 1; count < 20; ++count)
      for (size_t at = 0; at < count; ++at) {
        std::vector<float> values(count, std::numeric_limits<float>::max());
        EXPECT_FALSE(found(values));
        values[at] = bad;
        EXPECT_TRUE(found(values)) << at << " of " << count;
      }
}

TEST(NotFinite, EverythingElseIsFinite) {
  const float limits[] = {0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), -std::numeric_limits<float>::max(),
                          1.0f};
  EXPECT_FALSE(found(std::vector<float>(std::begin(limits), std::end(limits))));
  EXPECT_FALSE(found(std::vector<double>{1, -std::numeric_limits<double>::max()}));
  EXPECT_TRUE(found(std::vector<double>{1, std::nan("")}));
  EXPECT_FALSE(found(std::vector<float>{}));
  EXPECT_FALSE(found(std::vector<int32_t>{-1, 0x7f800000}));
}

TEST(NotFinite, EverySixteenBitPattern) {
  std::vector<uint16_t> bits(1);
  for (uint32_t i = 0; i < 65536; ++i) {
    bits[0] = static_cast<uint16_t>(i);
    const int64_t dims[] = {1};
    EXPECT_EQ(has_not_finite({DType::Float16, dims, bits.data()}), (i & 0x7c00) == 0x7c00) << i;
    EXPECT_EQ(has_not_finite({DType::BFloat16, dims, bits.data()}), (i & 0x7f80) == 0x7f80) << i;
  }
}

}  // namespace
}  // namespace tenon
