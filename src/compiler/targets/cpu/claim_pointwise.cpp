// Ops that compute each element alone become expressions of one instruction or a few; fuse_pointwise joins them.
#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/targets/cpu/claim.h"
#include "ops/activation.h"
#include "ops/pointwise.h"
#include "ops/unary.h"

namespace tenon {

namespace {

bool fits_expression(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16 || dtype == DType::Bool;
}

// The instruction of an op that has no parameters and as many operands as inputs.
std::optional<PointwiseOp> plain_instruction(OpId op) {
  switch (op) {
#define SAME(name) \
  case OpId::name: \
    return PointwiseOp::name;
    SAME(Abs)
    SAME(Acos)
    SAME(Acosh)
    SAME(Add)
    SAME(And)
    SAME(Asin)
    SAME(Asinh)
    SAME(Atan)
    SAME(Atanh)
    SAME(Ceil)
    SAME(Cos)
    SAME(Cosh)
    SAME(Div)
    SAME(Equal)
    SAME(Erf)
    SAME(Exp)
    SAME(Floor)
    SAME(Greater)
    SAME(GreaterOrEqual)
    SAME(HardSwish)
    SAME(IsNaN)
    SAME(Less)
    SAME(LessOrEqual)
    SAME(Log)
    SAME(Mish)
    SAME(Mul)
    SAME(Neg)
    SAME(Not)
    SAME(Or)
    SAME(PRelu)
    SAME(Pow)
    SAME(Reciprocal)
    SAME(Relu)
    SAME(Round)
    SAME(Sigmoid)
    SAME(Sign)
    SAME(Sin)
    SAME(Sinh)
    SAME(Softplus)
    SAME(Softsign)
    SAME(Sqrt)
    SAME(Sub)
    SAME(Tan)
    SAME(Tanh)
    SAME(Where)
    SAME(Xor)
#undef SAME
    default:
      return std::nullopt;
  }
}

// The instruction of an op whose parameters are its numbers.
std::optional<PointwiseInstruction> numbered_instruction(const GraphNode& node) {
  const auto with = [](PointwiseOp op, float a, float b = 0) { return PointwiseInstruction{op, {-1, -1, -1}, {a, b}}; };
  switch (node.op) {
    case OpId::Celu:
      // The instruction is for a curve that falls to -alpha.
      if (!(node.params.get<CeluParams>().alpha > 0)) return std::nullopt;
      return with(PointwiseOp::Celu, node.params.get<CeluParams>().alpha);
    case OpId::Elu:
      return with(PointwiseOp::Elu, node.params.get<EluParams>().alpha);
    case OpId::Gelu:
      return with(node.params.get<GeluParams>().approximate == "tanh" ? PointwiseOp::GeluTanh : PointwiseOp::Gelu, 0);
    case OpId::HardSigmoid: {
      const auto& p = node.params.get<HardSigmoidParams>();
      return with(PointwiseOp::HardSigmoid, p.alpha, p.beta);
    }
    case OpId::IsInf: {
      const auto& p = node.params.get<IsInfParams>();
      return with(PointwiseOp::IsInf, p.detect_positive ? 1.0f : 0.0f, p.detect_negative ? 1.0f : 0.0f);
    }
    case OpId::LeakyRelu:
      return with(PointwiseOp::LeakyRelu, node.params.get<LeakyReluParams>().alpha);
    case OpId::Selu: {
      const auto& p = node.params.get<SeluParams>();
      return with(PointwiseOp::Selu, p.alpha, p.gamma);
    }
    case OpId::Shrink: {
      const auto& p = node.params.get<ShrinkParams>();
      return with(PointwiseOp::Shrink, p.bias, p.lambd);
    }
    case OpId::Swish:
      return with(PointwiseOp::Silu, node.params.get<SwishParams>().alpha);
    case OpId::ThresholdedRelu:
      return with(PointwiseOp::ThresholdedRelu, node.params.get<ThresholdedReluParams>().alpha);
    default:
      return std::nullopt;
  }
}

// An expression on its way: inputs and code.
class Expression {
 public:
  explicit Expression(std::vector<ValueId> inputs) : inputs_(std::move(inputs)) {}

  const std::vector<ValueId>& inputs() const { return inputs_; }
  PointwiseParams& params() { return params_; }
  // Operands: inputs by their number, results by what this returned.
  int64_t add(PointwiseInstruction instruction, std::initializer_list<int64_t> operands) {
    std::ranges::copy(operands, instruction.operands);
    params_.add(instruction);
    return static_cast<int64_t>(inputs_.size() + params_.size()) - 1;
  }
  int64_t add(PointwiseOp op, std::initializer_list<int64_t> operands) {
    return add(PointwiseInstruction{op, {-1, -1, -1}, {0, 0}}, operands);
  }

 private:
  std::vector<ValueId> inputs_;
  PointwiseParams params_;
};

// op over all inputs, from the first on.
void add_chain(Expression& e, PointwiseOp op, const GraphNode& node) {
  int64_t result = 0;
  for (size_t i = 1; i < node.inputs.size(); ++i) result = e.add(op, {result, static_cast<int64_t>(i)});
  if (node.inputs.size() == 1) e.add(PointwiseOp::Same, {0});
}

// Bounds that are not there are infinite.
Expression clip_expression(Patch& patch, const GraphNode& node) {
  std::vector<ValueId> inputs = node.inputs;
  inputs.resize(3, kNone);
  const float infinity = std::numeric_limits<float>::infinity();
  if (inputs[1] == kNone) inputs[1] = patch.scalar(-infinity);
  if (inputs[2] == kNone) inputs[2] = patch.scalar(infinity);
  Expression e(inputs);
  e.add(PointwiseOp::Clip, {0, 1, 2});
  return e;
}

// Bounds broadcast like any operand here, so that they must not have more axes than x.
bool has_plain_bounds(const Graph& graph, const GraphNode& node) {
  const auto& x = graph.value(node.inputs[0]).type.shape;
  return std::ranges::all_of(node.inputs, [&](ValueId v) {
    if (v == kNone || v == node.inputs[0]) return true;
    const auto& shape = graph.value(v).type.shape;
    return shape && element_count(*shape).equals(1) && (shape->empty() || (x && x->size() >= shape->size()));
  });
}

std::optional<Expression> expression_of(Patch& patch, const GraphNode& node) {
  Expression e(node.inputs);
  if (const auto op = plain_instruction(node.op)) {
    PointwiseInstruction instruction{*op, {-1, -1, -1}, {0, 0}};
    for (size_t i = 0; i < node.inputs.size(); ++i) instruction.operands[i] = static_cast<int64_t>(i);
    e.params().add(instruction);
    return e;
  }
  if (const auto instruction = numbered_instruction(node)) {
    e.add(*instruction, {0});
    return e;
  }
  switch (node.op) {
    case OpId::Max:
      add_chain(e, PointwiseOp::Max, node);
      return e;
    case OpId::Min:
      add_chain(e, PointwiseOp::Min, node);
      return e;
    case OpId::Sum:
      add_chain(e, PointwiseOp::Add, node);
      return e;
    case OpId::Clip:
      if (!has_plain_bounds(patch.graph(), node)) return std::nullopt;
      return clip_expression(patch, node);
    case OpId::Cast: {
      const bool to_bool = patch.graph().value(node.outputs[0]).type.dtype == DType::Bool;
      e.add(to_bool ? PointwiseOp::Truth : PointwiseOp::Same, {0});
      return e;
    }
    default:
      return std::nullopt;
  }
}

// Narrow floats hold rounded numbers between any two ops.
void round_result(Expression& e, DType dtype) {
  const auto last = static_cast<int64_t>(e.inputs().size() + e.params().size()) - 1;
  if (dtype == DType::Float16) e.add(PointwiseOp::RoundToFloat16, {last});
  if (dtype == DType::BFloat16) e.add(PointwiseOp::RoundToBFloat16, {last});
}

Attempt match_pointwise(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  if (node.outputs.size() != 1 || node.outputs[0] == kNone || graph.value(node.outputs[0]).folds)
    return Attempt::none();
  const DType dtype = graph.value(node.outputs[0]).type.dtype;
  if (!fits_expression(dtype)) return Attempt::no("its result is not of floats or truth values");
  if (node.inputs.size() > kMostPointwiseInputs / 2) return Attempt::no("it has too many inputs");
  for (const ValueId v : node.inputs)
    if (v != kNone && !fits_expression(graph.value(v).type.dtype))
      return Attempt::no("an input is not of floats or truth values");
  auto patch = std::make_unique<Patch>(graph, root, "claim_pointwise");
  auto expression = expression_of(*patch, node);
  if (!expression) return Attempt::no("its parameters have no instruction");
  round_result(*expression, dtype);
  PointwiseParams params = std::move(expression->params());
  params.results = {static_cast<int64_t>(params.size()) - 1};
  params.dtypes = {static_cast<int64_t>(dtype)};
  patch->redefine(node.outputs[0], patch->op(OpId::Pointwise, expression->inputs(), Params::of(std::move(params))));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule claim_pointwise() {
  using enum OpId;
  return {"claim_pointwise",
          {Abs,
           Acos,
           Acosh,
           Add,
           And,
           Asin,
           Asinh,
           Atan,
           Atanh,
           Cast,
           Ceil,
           Celu,
           Clip,
           Cos,
           Cosh,
           Div,
           Elu,
           Equal,
           Erf,
           Exp,
           Floor,
           Gelu,
           Greater,
           GreaterOrEqual,
           HardSigmoid,
           HardSwish,
           IsInf,
           IsNaN,
           LeakyRelu,
           Less,
           LessOrEqual,
           Log,
           Max,
           Min,
           Mish,
           Mul,
           Neg,
           Not,
           Or,
           PRelu,
           Pow,
           Reciprocal,
           Relu,
           Round,
           Selu,
           Shrink,
           Sigmoid,
           Sign,
           Sin,
           Sinh,
           Softplus,
           Softsign,
           Sqrt,
           Sub,
           Sum,
           Swish,
           Tan,
           Tanh,
           ThresholdedRelu,
           Where,
           Xor},
          match_pointwise};
}

}  // namespace tenon
