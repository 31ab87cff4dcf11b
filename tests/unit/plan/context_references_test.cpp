#include "plan/context_references.h"

#include <gtest/gtest.h>

#include "unit/plan/sample_model.h"

namespace tenon {
namespace {

using Names = std::set<std::string>;

class ContextReferences : public ::testing::Test, protected SampleModel {};

TEST_F(ContextReferences, AreFoundWhateverTheSize) {
  const std::string large(size_t{20} << 20, 'x');
  model.metadata.push_back(builder.make_entry("licence", large));
  const std::string bytes = write();
  ASSERT_GT(bytes.size(), large.size());
  const auto names = weights_named_in(bytes);
  ASSERT_TRUE(names.ok()) << names.status().to_string();
  EXPECT_EQ(*names, Names{"sample.bin"});
}

TEST_F(ContextReferences, AreNoneWhereWeightsAreEmbedded) {
  context.embedded = true;
  context.payload = "bytes of a weights file";
  const auto names = weights_named_in(write());
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(*names, Names{});
}

TEST_F(ContextReferences, AreNoneInOtherModels) {
  const auto names = weights_named_in(wire::write_model(model).value());
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(*names, Names{});
}

// Whoever reads a part of a file must not conclude that it names nothing.
TEST_F(ContextReferences, AreUnknownInAFileThatIsCutOff) {
  const std::string bytes = write();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto names = weights_named_in(std::string_view(bytes).substr(0, size));
    if (names.ok()) {
      EXPECT_EQ(*names, Names{"sample.bin"}) << size;
    }
  }
  EXPECT_FALSE(weights_named_in("").ok());
  EXPECT_FALSE(weights_named_in("no model at all").ok());
}

}  // namespace
}  // namespace tenon
