#include <gtest/gtest.h>

#include "ops/op.h"
#include "ops/reshape.h"
#include "ops/shape_of.h"

namespace tenon {
namespace {

TEST(Params, EveryOpReadsBackItsDefaults) {
  for (const OpId id : all_ops()) {
    SCOPED_TRACE(std::string(op_def(id).name));
    const std::string bytes = params_to_bytes(id, default_params(id));
    auto params = params_from_bytes(id, bytes);
    ASSERT_TRUE(params.ok());
    EXPECT_EQ(params_to_bytes(id, *params), bytes);
    EXPECT_EQ(params_text(id, *params), "");
    EXPECT_EQ(op_from_name(op_def(id).name), id);
    EXPECT_NE(op_def(id).infer, nullptr);
  }
}

TEST(Params, TextShowsWhatDiffersFromTheDefault) {
  EXPECT_EQ(params_text(OpId::Reshape, Params::of(ReshapeParams{true})), "allowzero=1");
  EXPECT_EQ(params_text(OpId::Shape, Params::of(ShapeParams{1, -1})), "start=1, end=-1");
}

TEST(Params, TruncatedBytesAreRefused) {
  const std::string bytes = params_to_bytes(OpId::Shape, Params::of(ShapeParams{1, -1}));
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(params_from_bytes(OpId::Shape, bytes.substr(0, length)).ok()) << length;
  EXPECT_FALSE(params_from_bytes(OpId::Shape, bytes + "x").ok());
}

TEST(Params, OfAnotherOpAreRefused) {
  const Params params = Params::of(ShapeParams{1, -1});
  EXPECT_EQ(params.get<ShapeParams>().start, 1);
  EXPECT_THROW(params.get<ReshapeParams>(), std::logic_error);
  EXPECT_THROW(Params().get<NoParams>(), std::logic_error);
  EXPECT_TRUE(params.holds(*op_def(OpId::Shape).params_type));
  EXPECT_FALSE(params.holds(*op_def(OpId::Reshape).params_type));
  EXPECT_THROW(default_params(OpId::Reshape).get<ShapeParams>(), std::logic_error);
  EXPECT_FALSE(default_params(OpId::Reshape).get<ReshapeParams>().allowzero);
}

}  // namespace
}  // namespace tenon
