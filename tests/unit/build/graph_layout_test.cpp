#include "build/graph_layout.h"

#include <gmock/gmock.h>

#include "build/keep_apart.h"

namespace tenon::build {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pointwise;

std::vector<double> apart(std::vector<Wish> row) {
  keep_apart(row);
  std::vector<double> places;
  for (const Wish& wish : row) places.push_back(wish.x);
  return places;
}

TEST(KeepApart, LeavesWhatHasRoom) { EXPECT_THAT(apart({{0, 1, 10}, {20, 1, 10}}), ElementsAre(0, 20)); }

TEST(KeepApart, MovesBothSidesAsLittleAsPossible) {
  EXPECT_THAT(apart({{0, 1, 10}, {0, 1, 10}}), Pointwise(DoubleNear(1e-9), {-5.0, 5.0}));
  EXPECT_THAT(apart({{0, 3, 10}, {0, 1, 10}}), Pointwise(DoubleNear(1e-9), {-2.5, 7.5}));
}

TEST(KeepApart, KeepsTheOrder) {
  EXPECT_THAT(apart({{30, 1, 10}, {0, 1, 10}, {60, 1, 10}}), Pointwise(DoubleNear(1e-9), {10.0, 20.0, 60.0}));
}

TEST(KeepApart, TakesAnEmptyRow) { EXPECT_THAT(apart({}), IsEmpty()); }

constexpr LayoutSizes kSizes = {.width = 100, .height = 40, .gap_x = 20, .gap_y = 20, .lane = 10};

TEST(Layout, OfAChainIsAColumn) {
  const Layout layout = lay_out({{}, {0}, {1}}, kSizes);
  for (const Point& corner : layout.boxes) EXPECT_EQ(corner.x, 0);
  EXPECT_EQ(layout.boxes[2].y, 120);
  EXPECT_EQ(layout.width, 100);
  EXPECT_EQ(layout.height, 160);
}

TEST(Layout, PutsABoxThatReadsNothingAboveItsReader) {
  const Layout layout = lay_out({{}, {0}, {1}, {}, {2, 3}}, kSizes);
  EXPECT_EQ(layout.boxes[3].y, layout.boxes[2].y);
  EXPECT_NE(layout.boxes[3].x, layout.boxes[2].x);
}

TEST(Layout, LeadsALongLineAroundTheBoxes) {
  const Layout layout = lay_out({{}, {0}, {1}, {2, 0}}, kSizes);
  ASSERT_EQ(layout.lines.size(), 4U);
  for (const Line& line : layout.lines) {
    if (line.from != 0 || line.to != 3) continue;
    ASSERT_EQ(line.rows.size(), 2U);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(line.rows[i].y, layout.boxes[i + 1].y);
      const int left = layout.boxes[i + 1].x;
      EXPECT_TRUE(line.rows[i].x <= left || line.rows[i].x >= left + kSizes.width);
    }
  }
}

TEST(Layout, OfNothingIsEmpty) {
  const Layout layout = lay_out({}, kSizes);
  EXPECT_THAT(layout.boxes, IsEmpty());
  EXPECT_EQ(layout.height, 0);
}

}  // namespace
}  // namespace tenon::build
