// What definitions say beyond types: which inputs ops accept, how they round, what they carry.
#include <gmock/gmock.h>

#include <sstream>

#include "ops/accepted.h"
#include "ops/attention.h"
#include "ops/cast.h"
#include "ops/gather.h"
#include "ops/group_query_attention.h"
#include "ops/ml_maps.h"
#include "ops/recurrent.h"
#include "ops/reduction.h"

namespace tenon {
namespace {

using testing::ElementsAre;

std::vector<OpId> ops_named(const std::string& names) {
  std::vector<OpId> ops;
  std::istringstream words(names);
  for (std::string name; words >> name;) {
    const auto op = op_from_name(name);
    EXPECT_TRUE(op) << name;
    if (op) ops.push_back(*op);
  }
  return ops;
}

void expect_rounding(const std::string& names, double results, double terms, int quantizations) {
  for (const OpId op : ops_named(names)) {
    const Rounding& rounding = op_def(op).rounding;
    EXPECT_EQ(rounding.results, results) << op_def(op).name;
    EXPECT_EQ(rounding.terms, terms) << op_def(op).name;
    EXPECT_EQ(rounding.quantizations, quantizations) << op_def(op).name;
    EXPECT_EQ(rounding.count_terms, nullptr) << op_def(op).name;
  }
}

// Outputs of these alone must be equal to the bit, so that a wrong entry would refuse good results or let bad ones
// pass.
TEST(Rounding, OpsThatMoveOrCompare) {
  expect_rounding(
      "Abs And ArgMax ArgMin BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil "
      "CenterCropPad Clip Compress Concat ConcatFromSequence ConstantOfShape ConvInteger DepthToSpace Dropout "
      "Equal Expand EyeLike Flatten Floor Gather GatherElements GatherND GlobalMaxPool Greater GreaterOrEqual "
      "Hardmax Identity If IsInf IsNaN LabelEncoder Less LessOrEqual Loop MatMulInteger Max MaxPool MaxUnpool "
      "Min Neg NonMaxSuppression NonZero Not OneHot Optional OptionalGetElement OptionalHasElement Or Pad "
      "ReduceMax ReduceMin Relu Reshape ReverseSequence Round Scan SequenceAt SequenceConstruct SequenceEmpty "
      "SequenceErase SequenceInsert SequenceLength SequenceMap Shape Sign Size Slice SpaceToDepth Split "
      "SplitToSequence Squeeze StringConcat StringNormalizer StringSplit Tile TopK Transpose Trilu Unique "
      "Unsqueeze Where Xor ZipMap",
      0, 0, 0);
}

TEST(Rounding, Formulas) {
  expect_rounding(
      "Add Affine DequantizeLinear Div HardSigmoid HardSwish LeakyRelu Mean Mod Mul PRelu Range Reciprocal "
      "Scaler ScatterElements ScatterND Shrink Softsign Sqrt Sub Sum ThresholdedRelu",
      1, 1, 0);
  expect_rounding(
      "Acos Acosh Asin Asinh Atan Atanh Celu Cos Cosh Elu Erf Exp Gelu Log Mish Pow RotaryEmbedding Selu "
      "Sigmoid Sin Sinh Softplus Swish Tan Tanh",
      2, 1, 0);
}

TEST(Rounding, StepsOfAScale) {
  expect_rounding("DynamicQuantizeLinear QLinearConv QLinearMatMul QuantizeLinear", 1, 1, 1);
}

double terms(OpId op, std::vector<Type> inputs) {
  std::vector<const Type*> pointers;
  for (const Type& type : inputs) pointers.push_back(type.kind == Type::Kind::Unknown ? nullptr : &type);
  const Rounding& rounding = op_def(op).rounding;
  return rounding.count_terms ? rounding.count_terms(pointers) : rounding.terms;
}
Type of_shape(Shape shape) { return Type::tensor(DType::Float32, std::move(shape)); }

TEST(Rounding, SumsCountTheirElements) {
  for (const OpId op :
       ops_named("AveragePool CumSum GlobalAveragePool InstanceNormalization LayerNormalization LogSoftmax "
                 "RMSNormalization ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean ReduceProd ReduceSum "
                 "ReduceSumSquare Softmax")) {
    EXPECT_EQ(op_def(op).rounding.results, 2) << op_def(op).name;
    EXPECT_EQ(terms(op, {of_shape({2, 5})}), 10) << op_def(op).name;
    EXPECT_EQ(terms(op, {of_shape({200, 500})}), kManyTerms) << op_def(op).name;
    EXPECT_EQ(terms(op, {of_shape({Dim::symbol("n"), 5})}), kManyTerms) << op_def(op).name;
    EXPECT_EQ(terms(op, {Type::tensor(DType::Float32)}), kManyTerms) << op_def(op).name;
  }
}

TEST(Rounding, ProductsCountWhatMeetsInAResult) {
  const Type any = Type::tensor(DType::Float32);
  EXPECT_EQ(terms(OpId::MatMul, {any, of_shape({7, 9})}), 7);
  EXPECT_EQ(terms(OpId::MatMul, {any, of_shape({Dim::symbol("k"), 9})}), kManyTerms);
  EXPECT_EQ(terms(OpId::MatMul, {any, of_shape({9})}), kManyTerms);
  EXPECT_EQ(terms(OpId::Gemm, {any, of_shape({7, 9})}), 9);
  EXPECT_EQ(terms(OpId::Gemm, {any, of_shape({Dim::symbol("k"), 9})}), kManyTerms);
  EXPECT_EQ(terms(OpId::Conv, {any, of_shape({16, 3, 5, 5})}), 75);
  EXPECT_EQ(terms(OpId::ConvTranspose, {any, of_shape({16, 3, 5, 5})}), 400);
  EXPECT_EQ(terms(OpId::Conv, {any, of_shape({0, 3, 5, 5})}), kManyTerms);
  EXPECT_EQ(terms(OpId::Conv, {any}), kManyTerms);
}

TEST(Rounding, AttentionCountsProductsWithKeysAndWithValues) {
  EXPECT_EQ(op_def(OpId::Attention).rounding.results, 8);
  const Type q = of_shape({2, 3, 5, 64}), k = of_shape({2, 3, 7, 64}), past = of_shape({2, 3, 100, 64});
  EXPECT_EQ(terms(OpId::Attention, {q, k, k}), 71);
  EXPECT_EQ(terms(OpId::Attention, {q, k, k, {}, past, past}), 171);
  EXPECT_EQ(terms(OpId::Attention, {q, of_shape({2, 3, Dim::symbol("n"), 64})}), 64 + kManyTerms);
}

TEST(Rounding, WhatNothingIsKnownOfMayRoundALot) {
  expect_rounding("DeformConv TreeEnsemble Unsupported", 8, kManyTerms, 0);
}

// A node whose inputs are as a test says.
class Node final : public AcceptContext {
 public:
  Node(const Params& params, std::vector<Type> inputs, Accepted output = {}, Type output_type = {})
      : AcceptContext(params), inputs_(std::move(inputs)), output_(std::move(output)),
        output_type_(std::move(output_type)) {}
  const Type* type(size_t i) const override { return i < inputs_.size() ? &inputs_[i] : nullptr; }
  std::optional<double> constant(size_t i) const override { return i == constant_input ? number : std::nullopt; }
  Type output_type() const override { return output_type_; }
  Accepted output() const override { return output_; }

  size_t constant_input = 0;
  std::optional<double> number;

 private:
  std::optional<int64_t> symbol_value(const std::string& symbol) const override {
    return symbol == "n" ? std::optional<int64_t>(6) : std::nullopt;
  }
  std::vector<Type> inputs_;
  Accepted output_;
  Type output_type_;
};

std::vector<double> limits(OpId op, const Node& node, size_t input) {
  const Accepted accepted = op_def(op).accepts(node, input);
  return {accepted.low, accepted.high};
}
const Accepted kUpToSix = Accepted::range(0, 6);
constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(Accepts, AnythingUnlessARuleSaysOtherwise) {
  for (const OpId op : ops_named("Conv MatMul Exp Softmax Unsupported")) EXPECT_EQ(op_def(op).accepts, nullptr);
}

TEST(Accepts, WhatTheOutputMayHoldWhereElementsMove) {
  for (const OpId op : ops_named("UnfoldTensor Transpose Concat Identity Reshape KeyValueCache Dropout CastLike")) {
    const Params params = default_params(op);
    const Node node(params, {of_shape({2, 3}), of_shape({2, 3})}, kUpToSix, of_shape({2, 3}));
    EXPECT_THAT(limits(op, node, 0), ElementsAre(0, 6)) << op_def(op).name;
  }
}

TEST(Accepts, IndicesInsideWhatTheyIndex) {
  const Params gather = Params::of(GatherParams{.axis = -1});
  const Type ids = Type::tensor(DType::Int64, Shape{4});
  EXPECT_THAT(limits(OpId::Gather, Node(gather, {of_shape({2, Dim::symbol("n")}), ids}), 1), ElementsAre(0, 5));
  EXPECT_THAT(limits(OpId::Gather, Node(gather, {of_shape({2, Dim::symbol("m")}), ids}), 1), ElementsAre(0, 0));
  const Params none = default_params(OpId::ScatterND);
  EXPECT_THAT(limits(OpId::ScatterND, Node(none, {of_shape({8, 3}), Type::tensor(DType::Int64, Shape{1, 2})}), 1),
              ElementsAre(0, 2));
}

TEST(Accepts, AConstantColumnAlone) {
  const Params gather = Params::of(GatherParams{.axis = 1});
  Node node(gather, {of_shape({2, 4}), Type::tensor(DType::Int64, Shape{})}, kUpToSix);
  node.constant_input = 1;
  node.number = -1;
  const Accepted accepted = op_def(OpId::Gather).accepts(node, 0);
  EXPECT_FALSE(accepted.is_bounded());
  ASSERT_EQ(accepted.columns.size(), 1u);
  EXPECT_EQ(accepted.columns.begin()->first, 3);
  EXPECT_EQ(accepted.columns.begin()->second.high, 6);
  node.number = 17;
  EXPECT_TRUE(op_def(OpId::Gather).accepts(node, 0).columns.empty());
}

TEST(Accepts, AxesOfEveryReduction) {
  for (const OpId op : ops_named("ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
                                 "ReduceProd ReduceSum ReduceSumSquare Squeeze Unsqueeze")) {
    const Params params = default_params(op);
    const Node node(params, {of_shape({2, 3, 4}), Type::tensor(DType::Int64, Shape{2})});
    EXPECT_THAT(limits(op, node, 1), ElementsAre(0, 2)) << op_def(op).name;
    EXPECT_EQ(op_def(op).accepts(node, 1).form, Accepted::Form::Distinct) << op_def(op).name;
  }
}

TEST(Accepts, LengthsAndPlacesOfCaches) {
  const Params attention = default_params(OpId::GroupQueryAttention);
  std::vector<Type> inputs(kGqaInputs, Type::tensor(DType::Float32));
  inputs[kGqaQuery] = of_shape({1, 2, 8});
  inputs[kGqaPastKey] = of_shape({1, 1, 5, 8});
  const Node node(attention, inputs);
  EXPECT_THAT(limits(OpId::GroupQueryAttention, node, kGqaSeqlens), ElementsAre(6, 6));
  EXPECT_THAT(limits(OpId::GroupQueryAttention, node, kGqaTotal), ElementsAre(7, 7));
  EXPECT_THAT(limits(OpId::GroupQueryAttention, node, kGqaPositions), ElementsAre(0, 0));
  EXPECT_THAT(limits(OpId::GroupQueryAttention, node, kGqaBias), ElementsAre(-kInfinite, kInfinite));
  const Params none = default_params(OpId::KeyValueCache);
  EXPECT_THAT(limits(OpId::KeyValueCache, Node(none, {}, kUpToSix), 2), ElementsAre(0, 0));
  const Params bias = default_params(OpId::AttentionBias);
  EXPECT_THAT(limits(OpId::AttentionBias, Node(bias, {}), 3), ElementsAre(0, 1));
  const Params rotary = default_params(OpId::MRotaryEmbedding);
  EXPECT_THAT(limits(OpId::MRotaryEmbedding, Node(rotary, {of_shape({1, 2, 8}), of_shape({9, 4})}), 3),
              ElementsAre(0, 8));
}

TEST(Accepts, WordsThatAreKnown) {
  DictVectorizerParams params;
  params.string_vocabulary = {"ash", "elm"};
  const Params vocabulary = Params::of(params);
  const Accepted accepted = op_def(OpId::DictVectorizer).accepts(Node(vocabulary, {}), 0);
  EXPECT_THAT(accepted.words, ElementsAre("ash", "elm"));
}

TEST(Accepts, TextThatIsANumber) {
  const Params params = default_params(OpId::Cast);
  const Node node(params, {Type::tensor(DType::String, Shape{2})}, {}, of_shape({2}));
  EXPECT_TRUE(op_def(OpId::Cast).accepts(node, 0).numeric_text);
}

TEST(Definition, Bodies) {
  EXPECT_EQ(op_def(OpId::If).body_count({}), 2u);
  for (const OpId op : ops_named("Loop Scan BatchScan SequenceMap")) EXPECT_EQ(op_def(op).body_count({}), 1u);
  FlexAttentionParams params;
  EXPECT_EQ(op_def(OpId::FlexAttention).body_count(Params::of(params)), 0u);
  params.has_score_mod = params.has_prob_mod = true;
  EXPECT_EQ(op_def(OpId::FlexAttention).body_count(Params::of(params)), 2u);
  EXPECT_FALSE(op_def(OpId::Conv).has_bodies());
}

TEST(Definition, TimeOfRecurrentLayers) {
  LSTMParams params;
  EXPECT_EQ(op_def(OpId::LSTM).time_axis(Params::of(params)), 0u);
  params.common.layout = 1;
  EXPECT_EQ(op_def(OpId::LSTM).time_axis(Params::of(params)), 1u);
  EXPECT_EQ(op_def(OpId::Attention).time_axis, nullptr);
}

TEST(Definition, OutputsThatAreIndices) {
  const ChosenIndices argument = op_def(OpId::ArgMin).chooses(Params::of(ArgReductionParams{.axis = 2}));
  EXPECT_EQ(argument.output, 0u);
  EXPECT_EQ(argument.axis, 2);
  const ChosenIndices top = op_def(OpId::TopK).chooses(default_params(OpId::TopK));
  EXPECT_EQ(top.output, 1u);
  EXPECT_EQ(top.axis, -1);
  EXPECT_EQ(op_def(OpId::Gather).chooses, nullptr);
}

}  // namespace
}  // namespace tenon
