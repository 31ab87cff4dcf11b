#include "trials/tolerance/op_rounding.h"

#include <algorithm>
#include <span>

namespace tenon {

namespace {

enum class Family : uint8_t { Exact, Arithmetic, Transcendental, Sum, Product, Quantizing, Unknown };

// Every element of a result is one of an operand's, or a whole number or truth value that follows from them.
constexpr OpId kExact[] = {OpId::Abs,
                           OpId::And,
                           OpId::ArgMax,
                           OpId::ArgMin,
                           OpId::BitCast,
                           OpId::BitShift,
                           OpId::BitwiseAnd,
                           OpId::BitwiseNot,
                           OpId::BitwiseOr,
                           OpId::BitwiseXor,
                           OpId::Cast,
                           OpId::CastLike,
                           OpId::Ceil,
                           OpId::CenterCropPad,
                           OpId::Clip,
                           OpId::Compress,
                           OpId::Concat,
                           OpId::ConcatFromSequence,
                           OpId::ConstantOfShape,
                           OpId::ConvInteger,
                           OpId::DepthToSpace,
                           OpId::Dropout,
                           OpId::Equal,
                           OpId::Expand,
                           OpId::EyeLike,
                           OpId::Flatten,
                           OpId::Floor,
                           OpId::Gather,
                           OpId::GatherElements,
                           OpId::GatherND,
                           OpId::GlobalMaxPool,
                           OpId::Greater,
                           OpId::GreaterOrEqual,
                           OpId::Hardmax,
                           OpId::Identity,
                           OpId::If,
                           OpId::IsInf,
                           OpId::IsNaN,
                           OpId::LabelEncoder,
                           OpId::Less,
                           OpId::LessOrEqual,
                           OpId::Loop,
                           OpId::MatMulInteger,
                           OpId::Max,
                           OpId::MaxPool,
                           OpId::MaxUnpool,
                           OpId::Min,
                           OpId::Neg,
                           OpId::NonMaxSuppression,
                           OpId::NonZero,
                           OpId::Not,
                           OpId::OneHot,
                           OpId::Optional,
                           OpId::OptionalGetElement,
                           OpId::OptionalHasElement,
                           OpId::Or,
                           OpId::Pad,
                           OpId::ReduceMax,
                           OpId::ReduceMin,
                           OpId::Relu,
                           OpId::Reshape,
                           OpId::ReverseSequence,
                           OpId::Round,
                           OpId::Scan,
                           OpId::SequenceAt,
                           OpId::SequenceConstruct,
                           OpId::SequenceEmpty,
                           OpId::SequenceErase,
                           OpId::SequenceInsert,
                           OpId::SequenceLength,
                           OpId::SequenceMap,
                           OpId::Shape,
                           OpId::Sign,
                           OpId::Size,
                           OpId::Slice,
                           OpId::SpaceToDepth,
                           OpId::Split,
                           OpId::SplitToSequence,
                           OpId::Squeeze,
                           OpId::StringConcat,
                           OpId::StringNormalizer,
                           OpId::StringSplit,
                           OpId::Tile,
                           OpId::TopK,
                           OpId::Transpose,
                           OpId::Trilu,
                           OpId::Unique,
                           OpId::Unsqueeze,
                           OpId::Where,
                           OpId::Xor,
                           OpId::ZipMap};
constexpr OpId kArithmetic[] = {OpId::Add,
                                OpId::Affine,
                                OpId::DequantizeLinear,
                                OpId::Div,
                                OpId::HardSigmoid,
                                OpId::HardSwish,
                                OpId::LeakyRelu,
                                OpId::Mean,
                                OpId::Mod,
                                OpId::Mul,
                                OpId::PRelu,
                                OpId::Range,
                                OpId::Reciprocal,
                                OpId::Scaler,
                                OpId::ScatterElements,
                                OpId::ScatterND,
                                OpId::Shrink,
                                OpId::Softsign,
                                OpId::Sqrt,
                                OpId::Sub,
                                OpId::Sum,
                                OpId::ThresholdedRelu};
constexpr OpId kTranscendental[] = {OpId::Acos,
                                    OpId::Acosh,
                                    OpId::Asin,
                                    OpId::Asinh,
                                    OpId::Atan,
                                    OpId::Atanh,
                                    OpId::Celu,
                                    OpId::Cos,
                                    OpId::Cosh,
                                    OpId::Elu,
                                    OpId::Erf,
                                    OpId::Exp,
                                    OpId::Gelu,
                                    OpId::Log,
                                    OpId::Mish,
                                    OpId::Pow,
                                    OpId::RotaryEmbedding,
                                    OpId::Selu,
                                    OpId::Sigmoid,
                                    OpId::Sin,
                                    OpId::Sinh,
                                    OpId::Softplus,
                                    OpId::Swish,
                                    OpId::Tan,
                                    OpId::Tanh};
constexpr OpId kSum[] = {
    OpId::AveragePool,        OpId::CumSum,       OpId::GlobalAveragePool, OpId::InstanceNormalization,
    OpId::LayerNormalization, OpId::LogSoftmax,   OpId::RMSNormalization,  OpId::ReduceL1,
    OpId::ReduceL2,           OpId::ReduceLogSum, OpId::ReduceLogSumExp,   OpId::ReduceMean,
    OpId::ReduceProd,         OpId::ReduceSum,    OpId::ReduceSumSquare,   OpId::Softmax};
constexpr OpId kProduct[] = {OpId::Conv, OpId::ConvTranspose, OpId::Gemm, OpId::MatMul};
constexpr OpId kQuantizing[] = {OpId::DynamicQuantizeLinear, OpId::QLinearConv, OpId::QLinearMatMul,
                                OpId::QuantizeLinear};

Family family_of(OpId op) {
  const auto is_in = [&](std::span<const OpId> family) { return std::ranges::find(family, op) != family.end(); };
  if (is_in(kExact)) return Family::Exact;
  if (is_in(kArithmetic)) return Family::Arithmetic;
  if (is_in(kTranscendental)) return Family::Transcendental;
  if (is_in(kSum)) return Family::Sum;
  if (is_in(kProduct)) return Family::Product;
  if (is_in(kQuantizing)) return Family::Quantizing;
  return Family::Unknown;
}

// A sum whose length the model does not tell, or several in one op.
constexpr double kManyTerms = 4096;

const Shape* shape_of(const Graph& graph, const GraphNode& node, size_t input) {
  if (input >= node.inputs.size() || node.inputs[input] == kNone) return nullptr;
  const auto& shape = graph.value(node.inputs[input]).type.shape;
  return shape ? &*shape : nullptr;
}

// The elements of the second operand that meet in one result: those of a filter, or of a column.
double product_terms(const Graph& graph, const GraphNode& node) {
  const Shape* weight = shape_of(graph, node, 1);
  if (!weight || weight->size() < 2) return kManyTerms;
  const bool windowed = node.op == OpId::Conv || node.op == OpId::ConvTranspose;
  if (!windowed) {
    // Whether transposed or not, no sum is longer than the longer side.
    const Dim &a = (*weight)[weight->size() - 2], &b = (*weight)[weight->size() - 1];
    if (node.op == OpId::MatMul && a.is_constant()) return static_cast<double>(a.value());
    return a.is_constant() && b.is_constant() ? static_cast<double>(std::max(a.value(), b.value())) : kManyTerms;
  }
  const Dim all = element_count(*weight);
  const Dim& outputs = (*weight)[node.op == OpId::Conv ? 0 : 1];
  if (!all.is_constant() || !outputs.is_constant() || outputs.value() <= 0) return kManyTerms;
  return static_cast<double>(all.value()) / static_cast<double>(outputs.value());
}

double sum_terms(const Graph& graph, const GraphNode& node) {
  const Shape* shape = shape_of(graph, node, 0);
  const Dim all = shape ? element_count(*shape) : Dim(0);
  return all.is_constant() && all.value() > 0 ? std::min(static_cast<double>(all.value()), kManyTerms) : kManyTerms;
}

}  // namespace

OpRounding rounding_of(const Graph& graph, const GraphNode& node) {
  OpRounding rounding;
  switch (family_of(node.op)) {
    case Family::Exact:
      break;
    case Family::Arithmetic:
      rounding = {1, 1, 0};
      break;
    case Family::Transcendental:
      rounding = {2, 1, 0};
      break;
    case Family::Sum:
      rounding = {2, sum_terms(graph, node), 0};
      break;
    case Family::Product:
      rounding = {1, product_terms(graph, node), 0};
      break;
    case Family::Quantizing:
      rounding = {1, 1, 1};
      break;
    case Family::Unknown:
      rounding = {8, kManyTerms, 0};
      break;
  }
  for (const auto& body : node.bodies)
    for (const GraphNode& inner : body->nodes()) rounding.add(rounding_of(*body, inner));
  return rounding;
}

}  // namespace tenon
