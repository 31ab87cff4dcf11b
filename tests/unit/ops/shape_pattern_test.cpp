#include "ops/shape_pattern.h"

#include <gtest/gtest.h>

#include "ops/require_shapes.h"

namespace tenon {
namespace {

const Dim n = Dim::symbol("n"), batch = Dim::symbol("batch");

Fit fit(std::string_view pattern, const Shape& shape, PatternValues values = {}) {
  const auto patterns = parse_shape_patterns(pattern);
  EXPECT_TRUE(patterns.ok()) << patterns.status().to_string();
  return patterns.ok() ? fit_shape(*patterns, shape, values) : Fit::No;
}

TEST(ShapePattern, TellsAxesAndExtents) {
  EXPECT_EQ(fit("[]", {}), Fit::Yes);
  EXPECT_EQ(fit("[]", {1}), Fit::No);
  EXPECT_EQ(fit("[2, 3] or [6]", {2, 3}), Fit::Yes);
  EXPECT_EQ(fit("[2, 3] or [6]", {6}), Fit::Yes);
  EXPECT_EQ(fit("[2, 3] or [6]", {3, 2}), Fit::No);
  EXPECT_EQ(fit("[2, 3] or [6]", {n}), Fit::Open);
  EXPECT_EQ(fit("[rows, 3]", {n, 3}), Fit::Yes);
  EXPECT_EQ(fit("[rows, rows]", {n, n}), Fit::Yes);
  EXPECT_EQ(fit("[rows, rows]", {n, batch}), Fit::Open);
  EXPECT_EQ(fit("[rows, rows]", {4, 5}), Fit::No);
  EXPECT_EQ(fit("[1|4, 1|5]", {4, 1}), Fit::Yes);
  EXPECT_EQ(fit("[1|4, 1|5]", {5, 1}), Fit::No);
}

TEST(ShapePattern, LeavesAxesOpen) {
  EXPECT_EQ(fit("[..., 4]", {4}), Fit::Yes);
  EXPECT_EQ(fit("[..., 4]", {n, 2, 4}), Fit::Yes);
  EXPECT_EQ(fit("[..., 4]", {}), Fit::No);
  EXPECT_EQ(fit("[first, ..., last]", {2}), Fit::No);
  PatternValues values;
  values.rests["outer"] = {2, 3};
  EXPECT_EQ(fit("[outer..., 4]", {2, 3, 4}, values), Fit::Yes);
  EXPECT_EQ(fit("[outer..., 4]", {2, 2, 4}, values), Fit::No);
  EXPECT_EQ(fit("[outer..., 4]", {3, 4}, values), Fit::No);
  EXPECT_EQ(fit("[outer..., 4]", {2, n, 4}, values), Fit::Open);
}

TEST(ShapePattern, SolvesForOneName) {
  EXPECT_EQ(fit("[3*width]", {24}), Fit::Yes);
  EXPECT_EQ(fit("[3*width]", {25}), Fit::No);
  EXPECT_EQ(fit("[3*width]", {n}), Fit::Open);
  EXPECT_EQ(fit("[3*width]", {Dim(3) * n}), Fit::Yes);
  EXPECT_EQ(fit("[width + 4]", {3}), Fit::No);
  EXPECT_EQ(fit("[width, 2*width]", {n, Dim(2) * n}), Fit::Yes);
  EXPECT_EQ(fit("[width, width/2]", {8, 4}), Fit::Yes);
  EXPECT_EQ(fit("[width, width/2]", {9, 4}), Fit::No);
  EXPECT_EQ(fit("[width/2, width]", {4, 8}), Fit::Yes);
  EXPECT_EQ(fit("[x, ceil(2*x, 16)]", {20, 3}), Fit::Yes);
  EXPECT_EQ(fit("[x, ceil(2*x, 16)]", {20, 2}), Fit::No);
  EXPECT_EQ(fit("[a + b]", {5}), Fit::Open);
}

TEST(ShapePattern, KeepsGraphSymbolsAndNamesApart) {
  // The extent of the graph is called as a name here is.
  EXPECT_EQ(fit("[width, n]", {n, 4}), Fit::Yes);
  EXPECT_EQ(fit("[width, n, width]", {n, 4, 4}), Fit::Open);
}

TEST(ShapePattern, IsWrittenWithWhatIsKnown) {
  PatternValues values;
  values.extents["keys"] = 5;
  values.rests["outer"] = {2, 3};
  const auto text = [&](std::string_view pattern) { return pattern_text(*parse_shape_patterns(pattern), values); };
  EXPECT_EQ(text("[outer..., keys, width] or [2*keys|1]"), "[2, 3, 5, width] or [10|1]");
  EXPECT_EQ(text("[rest..., width/2]"), "[rest..., width/2]");
}

TEST(ShapePattern, RefusesOtherTexts) {
  for (const char* text : {"", "2, 3", "[2", "[,]", "[1||2]", "[..., 2, ...]", "[n/0]", "[n/m]", "[2 3]", "[2] or "})
    EXPECT_FALSE(parse_shape_patterns(text).ok()) << text;
}

TEST(RequiredShapes, NameTheInputThatDoesNotFit) {
  const RequireShapesParams params{"QGemm", {"A", "B"}, {"[rows, depth]", "[depth, columns]"}, {"", ""}};
  const Shape a{batch, 5}, right{5, 6}, wrong{6, 6};
  const auto fits = [&](const Shape* first, const Shape* second) {
    return fit_required_shapes(params, std::vector<const Shape*>{first, second});
  };
  EXPECT_EQ(*fits(&a, &right), Fit::Yes);
  EXPECT_EQ(*fits(&a, nullptr), Fit::Open);
  EXPECT_EQ(*fits(nullptr, &wrong), Fit::Open);
  EXPECT_EQ(fits(&a, &wrong).status().message(), "B has the shape [6, 6]; it must be [5, columns]");
}

}  // namespace
}  // namespace tenon
