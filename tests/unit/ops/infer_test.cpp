#include "ops/infer.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

const Dim n = Dim::symbol("n");

TEST(Broadcast, FollowsNumpy) {
  EXPECT_EQ(shape_text(*broadcast({Dim(2), Dim(1)}, {Dim(3)})), "[2, 3]");
  EXPECT_EQ(shape_text(*broadcast({n, Dim(4)}, {Dim(1), Dim(1)})), "[n, 4]");
  EXPECT_EQ(shape_text(*broadcast({Dim(0)}, {Dim(1)})), "[0]");
  EXPECT_FALSE(broadcast({Dim(2)}, {Dim(3)}).ok());
  EXPECT_FALSE(broadcast({Dim(0)}, {Dim(3)}).ok());
}

TEST(Axes, AreCheckedAndSorted) {
  EXPECT_EQ(*normalize_axis(-1, 3), 2);
  EXPECT_FALSE(normalize_axis(3, 3).ok());
  const int64_t axes[] = {2, -3};
  EXPECT_EQ(*normalize_axes(axes, 3), (std::vector<int64_t>{0, 2}));
  const int64_t twice[] = {0, -3};
  EXPECT_FALSE(normalize_axes(twice, 3).ok());
}

}  // namespace
}  // namespace tenon
