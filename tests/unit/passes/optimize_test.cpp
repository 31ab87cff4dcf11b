#include <gmock/gmock.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "passes/pipeline.h"

namespace tenon {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Optimized {
  std::vector<std::string> ops, rules;
  std::vector<std::string> misses;
};

// The graph after the normal form and what else is enabled, without limits of op versions.
Optimized optimized(std::string_view text, const std::vector<std::string>& enable) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  const auto choice = choose_capabilities(enable, {});
  EXPECT_TRUE(choice.ok()) << choice.status().to_string();
  Optimized result;
  ChangeLog log, again;
  const RewriteOptions options{.must_descend = true};
  const Status status = run_passes(*graph, choice->set, log, options);
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_TRUE(verify(*graph).ok()) << verify(*graph).to_string();
  EXPECT_TRUE(run_passes(*graph, choice->set, again, options).ok());
  EXPECT_THAT(again.changes, IsEmpty());
  for (const GraphNode& node : graph->nodes()) result.ops.emplace_back(op_def(node.op).name);
  for (const Patch::Change& change : log.changes) result.rules.push_back(change.label);
  for (const Miss& miss : log.misses) result.misses.push_back(miss.reason);
  return result;
}

constexpr std::string_view kGelu = R"(
    %root: float[] = [1.41421354]
    %one: float[] = [1]
    %half: float[] = [0.5]
    graph (%x: float[2]) {
      %d = Div(%x, %root)
      %e = Erf(%d)
      %p = Add(%one, %e)
      %q = Mul(%p, %x)
      %y = Mul(%q, %half)
      return %y as "y"
    })";

TEST(Optimize, FusesWhatComputesAGeluWhateverTheOrderOfOperands) {
  const auto o = optimized(kGelu, {"fuse-gelu"});
  EXPECT_THAT(o.ops, ElementsAre("Gelu"));
  EXPECT_THAT(o.rules, ElementsAre("fuse_gelu"));
}

TEST(Optimize, TakesNumbersOnlyAsFarAsTheirTypeCanSay) {
  std::string text(kGelu);
  text.replace(text.find("1.41421354"), 10, "1.4142");
  EXPECT_THAT(optimized(text, {"fuse-gelu"}).rules, IsEmpty());
}

TEST(Optimize, LeavesNodesOfWhichAnInnerValueIsReadAndSaysSo) {
  std::string text(kGelu);
  text.replace(text.find("return"), 6, "return %e as \"e\",");
  const auto o = optimized(text, {"fuse-gelu"});
  EXPECT_THAT(o.rules, IsEmpty());
  EXPECT_THAT(o.misses, Contains("something else reads 'e' as well"));
}

TEST(Optimize, MovesTransposesOnlyWhereOneDisappears) {
  constexpr std::string_view both = R"(
    graph (%x: float[2, 3], %z: float[2, 3]) {
      %a = Transpose(%x) {perm=[1, 0]}
      %b = Transpose(%z) {perm=[1, 0]}
      %c = Add(%a, %b)
      %y = Relu(%c)
      return %y as "y"
    })";
  EXPECT_THAT(optimized(both, {"sink-transposes"}).ops, ElementsAre("Add", "Transpose", "Relu"));
  constexpr std::string_view one = R"(
    graph (%x: float[2, 3], %z: float[3, 2]) {
      %a = Transpose(%x) {perm=[1, 0]}
      %c = Add(%a, %z)
      return %c as "y"
    })";
  EXPECT_THAT(optimized(one, {"sink-transposes"}).rules, IsEmpty());
}

TEST(Optimize, FoldsANormalizationIntoTheWeightsBeforeIt) {
  const auto o = optimized(R"(
    %w: float[2, 1, 1, 1] source "w"
    %v: float[2] source "v"
    graph (%x: float[1, 1, 3, 3]) {
      %c = Conv(%x, %w)
      %y = BatchNormalization(%c, %v, %v, %v, %v)
      return %y as "y"
    })",
                           {"fuse-conv-bn"});
  EXPECT_THAT(o.rules, Contains("fuse_conv_bn"));
  EXPECT_EQ(o.ops.back(), "Conv");
}

TEST(Optimize, SwitchesOnWhatACapabilityNeeds) {
  const std::vector<std::string> enable{"fuse-conv-bn"}, disable{"fold-weights"};
  const auto choice = choose_capabilities(enable, {});
  ASSERT_TRUE(choice.ok());
  ASSERT_EQ(choice->added.size(), 1u);
  EXPECT_EQ(choice->added[0].capability, Capability::FoldWeights);
  EXPECT_FALSE(choose_capabilities(enable, disable).ok());
}

// A rule that names something that the model has not imported needs what makes ONNX nodes.
TEST(Optimize, WritesNoFusedOpsWithoutAModel) {
  const auto o = optimized(R"(
    %b: float[2] source "b"
    graph (%x: float[3, 2]) {
      %a = Add(%x, %b)
      %y = Gelu(%a)
      return %y as "y"
    })",
                           {"fuse-bias-gelu"});
  EXPECT_THAT(o.rules, IsEmpty());
}

}  // namespace
}  // namespace tenon
