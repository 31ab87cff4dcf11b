// Values in blocks of channels between steps.
#include "unit/executor/run_program.h"

namespace tenon::test {
namespace {

using Kind = ValueLayout::Kind;

// y = x, by way of a value in another layout.
Plan detour(const ValueLayout& layout, size_t rank) {
  Shape shape;
  for (size_t i = 0; i < rank; ++i) shape.push_back(Dim::symbol(std::string(1, static_cast<char>('a' + i))));
  if (!layout.segments.empty()) {
    int64_t channels = 0;
    for (const int64_t part : layout.segments) channels += part;
    shape[1] = Dim(channels);
  }
  Plan plan;
  plan.values = {arena(shape), arena(shape), arena(shape)};
  plan.values[1].layout = layout;
  plan.inputs = {{0, -1}};
  plan.steps = {step(OpId::Reorder, "cpu", {0}, {1}), step(OpId::Reorder, "cpu", {1}, {2})};
  plan.outputs = {2};
  plan.output_names = {"y"};
  return plan;
}

void check(const ValueLayout& layout, const std::vector<int64_t>& dims) {
  SCOPED_TRACE(layout_text(layout));
  HandMadeRun run(detour(layout, dims.size()));
  const Tensor x = counted(dims);
  const Tensor y = run.run({x})[0];
  ASSERT_EQ(y.dims(), dims);
  EXPECT_TRUE(std::ranges::equal(x.as<float>(), y.as<float>()));
}

TEST(Layouts, GoThereAndBack) {
  for (const uint8_t border : {0, 1, 3})
    for (const int64_t channels : {1, 15, 16, 17, 40}) {
      check({Kind::Blocked16, border}, {2, channels, 7});
      check({Kind::Blocked16, border}, {1, channels, 7, 5});
      check({Kind::Blocked16, border}, {2, channels, 3, 4, 5});
    }
  check({Kind::Blocked16, 1, {24, 1, 16}}, {2, 41, 7, 5});
  check({Kind::Blocked16}, {0, 40, 7, 5});
  check({Kind::Blocked16}, {1, 0, 7, 5});
}

TEST(Layouts, SizesCountBlocksAndBorders) {
  const std::vector<int64_t> dims{2, 41, 7, 5};
  EXPECT_EQ(stored_elements({}, dims), 2 * 41 * 7 * 5);
  EXPECT_EQ(stored_elements({Kind::Blocked16}, dims), 2 * 3 * 7 * 5 * 16);
  EXPECT_EQ(stored_elements({Kind::Blocked16, 1}, dims), 2 * 3 * 9 * 7 * 16);
  EXPECT_EQ(stored_elements({Kind::Blocked16, 0, {24, 1, 16}}, dims), 2 * 4 * 7 * 5 * 16);
  EXPECT_EQ(layout_text({Kind::Blocked16, 1, {24, 1}}), "blocked16 border=1 segments=24+1");
}

TEST(Layouts, FamiliesThatDoNotKnowThemAreRefused) {
  Plan plan = detour({Kind::Blocked16}, 4);
  plan.steps[1] = step(OpId::Relu, "reference", {1}, {2});
  const auto prepared = PreparedPlan::make(plan, {});
  EXPECT_EQ(prepared.status().code(), Code::InvalidModel);
  EXPECT_NE(prepared.status().message().find("'reference/Relu' does not support values in blocks"), std::string::npos)
      << prepared.status().to_string();
}

}  // namespace
}  // namespace tenon::test
