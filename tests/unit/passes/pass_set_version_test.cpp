#include "passes/pass_set_version.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/infer_node.h"

namespace tenon {
namespace {

TEST(PassSetVersion, IsThatOfThePipeline) {
  EXPECT_EQ(pass_set_version(), pass_set_version(pipeline(), kInferenceVersion));
}

TEST(PassSetVersion, DiffersWithEveryPartThatShapesTheNormalForm) {
  const std::vector<Phase> phases = pipeline();
  std::set<std::string> versions{pass_set_version(phases, 1), pass_set_version(phases, 2)};
  const auto add = [&](const auto& edit) {
    std::vector<Phase> edited = phases;
    edit(edited[0].passes);
    versions.insert(pass_set_version(edited, 1));
  };
  add([](std::vector<Pass>& passes) { ++passes[0].rule.version; });
  add([](std::vector<Pass>& passes) { ++passes[1].rule.version; });
  add([](std::vector<Pass>& passes) { passes[0].rule.name = "another"; });
  add([](std::vector<Pass>& passes) { passes[0].capability = Capability::RemoveNoOps; });
  add([](std::vector<Pass>& passes) { std::swap(passes[0], passes[1]); });
  add([](std::vector<Pass>& passes) { passes.pop_back(); });
  EXPECT_EQ(versions.size(), 8U);
}

}  // namespace
}  // namespace tenon
