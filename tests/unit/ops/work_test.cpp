#include "ops/work.h"

#include <gtest/gtest.h>

#include "ops/convolution.h"
#include "ops/packed.h"
#include "ops/pointwise.h"
#include "ops/recurrent.h"

namespace tenon {
namespace {

// Views of float32 with these dims.
class Tensors {
 public:
  explicit Tensors(std::vector<std::vector<int64_t>> all) : dims_(std::move(all)) {
    for (const auto& dims : dims_) views_.push_back({DType::Float32, dims});
  }
  std::span<const TensorView> get() const { return views_; }

 private:
  std::vector<std::vector<int64_t>> dims_;
  std::vector<TensorView> views_;
};

Work work(OpId op, const Params& params, std::vector<std::vector<int64_t>> inputs,
          std::vector<std::vector<int64_t>> outputs) {
  return work_of(op, params, Tensors(std::move(inputs)).get(), Tensors(std::move(outputs)).get());
}
Work work(OpId op, std::vector<std::vector<int64_t>> inputs, std::vector<std::vector<int64_t>> outputs) {
  return work(op, default_params(op), std::move(inputs), std::move(outputs));
}

TEST(WorkOf, CountsTheTermsOfProducts) {
  const Work product = work(OpId::MatMul, {{2, 5, 9000}, {9000, 7}}, {{2, 5, 7}});
  EXPECT_EQ(product.flops, 2.0 * 2 * 5 * 7 * 9000);
  EXPECT_EQ(product.bytes, 4.0 * (2 * 5 * 9000 + 9000 * 7 + 2 * 5 * 7));
  EXPECT_EQ(work(OpId::Conv, {{1, 8, 6, 6}, {4, 8, 3, 3}}, {{1, 4, 4, 4}}).flops, 2.0 * 64 * 72);
}

TEST(WorkOf, DoesNotDependOnPacking) {
  PackedConvParams conv{.output_channels = 4};
  conv.conv.window.kernel_shape = {3, 3};
  EXPECT_EQ(work(OpId::PackedConv, Params::of(conv), {{1, 8, 6, 6}, {1, 1, 72, 16}}, {{1, 4, 4, 4}}).flops,
            2.0 * 64 * 72);
  conv.conv.group = 2;
  EXPECT_EQ(work(OpId::PackedConv, Params::of(conv), {{1, 8, 6, 6}, {2, 1, 36, 16}}, {{1, 4, 4, 4}}).flops,
            2.0 * 64 * 36);
  const Params products = Params::of(PackedMatMulParams{.columns = {7, 3}, .k = 9});
  EXPECT_EQ(work(OpId::PackedMatMul, products, {{5, 9}, {1, 1, 9, 16}}, {{5, 7}, {5, 3}}).flops, 2.0 * 5 * 10 * 9);
}

TEST(WorkOf, CountsEachInstructionOfAnExpression) {
  PointwiseParams expression;
  expression.code.resize(3 * PointwiseInstruction::kWords);
  const Work chain = work(OpId::Pointwise, Params::of(expression), {{10, 20}, {20}}, {{10, 20}});
  EXPECT_EQ(chain.flops, 3.0 * 200);
  EXPECT_EQ(chain.bytes, 4.0 * 420);
}

TEST(WorkOf, CountsTheProductsOfEachPosition) {
  const Work layer = work(OpId::LSTM, {{11, 2, 8}, {1, 64, 8}, {1, 64, 16}}, {{11, 1, 2, 16}});
  EXPECT_EQ(layer.flops, 2.0 * 22 * (64 * 8 + 64 * 16));
  const Work attention = work(OpId::Attention, {{1, 4, 5, 8}, {1, 4, 9, 8}, {1, 4, 9, 8}}, {{1, 4, 5, 8}});
  EXPECT_EQ(attention.flops, 2.0 * 9 * (160 + 160));
}

TEST(WorkOf, KnowsWhatOnlyMovesOrStays) {
  EXPECT_EQ(work(OpId::Reshape, {{6, 4}, {1}}, {{24}}).bytes, 0);
  const Work rows = work(OpId::Gather, {{30000, 64}, {3}}, {{3, 64}});
  EXPECT_EQ(rows.flops, 0);
  EXPECT_EQ(rows.bytes, 4.0 * (2 * 3 * 64 + 3));
  EXPECT_EQ(work(OpId::Transpose, {{6, 4}}, {{4, 6}}).bytes, 4.0 * 48);
}

TEST(WorkOf, SaysWhenNobodyCanTell) { EXPECT_LT(work(OpId::TfIdfVectorizer, {{3}}, {{5}}).flops, 0); }

}  // namespace
}  // namespace tenon
