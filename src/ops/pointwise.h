#pragma once

#include <algorithm>

#include "ops/op.h"

// An op that only compiled plans hold: a whole expression that is computed element by element.
namespace tenon {

// What an instruction of an expression computes: name, text, operands, numbers. Truth values are 0 and 1; any other
// number counts as true.
#define TENON_POINTWISE_OPS(X)                                            \
  X(Abs, "abs", 1)                                                        \
  X(Add, "add", 2)                                                        \
  X(And, "and", 2)                                                        \
  X(Ceil, "ceil", 1)                                                      \
  X(Celu, "celu", 1)      /* alpha */                                     \
  X(Clip, "clip", 3)      /* x, least, greatest */                        \
  X(ClipTo, "clip_to", 1) /* least, greatest */                           \
  X(Cos, "cos", 1)                                                        \
  X(Div, "div", 2)                                                        \
  X(Elu, "elu", 1) /* alpha */                                            \
  X(Equal, "equal", 2)                                                    \
  X(Erf, "erf", 1)                                                        \
  X(Exp, "exp", 1)                                                        \
  X(Floor, "floor", 1)                                                    \
  X(Gelu, "gelu", 1)                                                      \
  X(GeluTanh, "gelu_tanh", 1)                                             \
  X(Greater, "greater", 2)                                                \
  X(GreaterOrEqual, "greater_or_equal", 2)                                \
  X(HardSigmoid, "hard_sigmoid", 1) /* alpha, beta */                     \
  X(HardSwish, "hard_swish", 1)                                           \
  X(IsInf, "is_inf", 1) /* positive ones count, negative ones count */    \
  X(IsNaN, "is_nan", 1)                                                   \
  X(LeakyRelu, "leaky_relu", 1) /* alpha */                               \
  X(Less, "less", 2)                                                      \
  X(LessOrEqual, "less_or_equal", 2)                                      \
  X(Log, "log", 1)                                                        \
  X(Max, "max", 2)                                                        \
  X(Min, "min", 2)                                                        \
  X(Mish, "mish", 1)                                                      \
  X(Mul, "mul", 2)                                                        \
  X(Neg, "neg", 1)                                                        \
  X(Not, "not", 1)                                                        \
  X(Or, "or", 2)                                                          \
  X(PRelu, "prelu", 2)                                                    \
  X(Pow, "pow", 2)                                                        \
  X(Reciprocal, "reciprocal", 1)                                          \
  X(Relu, "relu", 1)                                                      \
  X(Round, "round", 1)                                                    \
  X(RoundToBFloat16, "round_to_bfloat16", 1)                              \
  X(RoundToFloat16, "round_to_float16", 1)                                \
  X(Same, "same", 1)                                                      \
  X(Selu, "selu", 1)     /* alpha, gamma */                               \
  X(Shrink, "shrink", 1) /* bias, lambd */                                \
  X(Sigmoid, "sigmoid", 1)                                                \
  X(Sign, "sign", 1)                                                      \
  X(Silu, "silu", 1) /* alpha */                                          \
  X(Sin, "sin", 1)                                                        \
  X(Softplus, "softplus", 1)                                              \
  X(Softsign, "softsign", 1)                                              \
  X(Sqrt, "sqrt", 1)                                                      \
  X(Square, "square", 1)                                                  \
  X(Sub, "sub", 2)                                                        \
  X(Tanh, "tanh", 1)                                                      \
  X(ThresholdedRelu, "thresholded_relu", 1) /* alpha */                   \
  X(Truth, "truth", 1)                      /* 1 for whatever is not 0 */ \
  X(Where, "where", 3)                                                    \
  X(Xor, "xor", 2)                                                        \
  /* Compiled plans hold numbers: what is new comes last. */              \
  X(Acos, "acos", 1)                                                      \
  X(Acosh, "acosh", 1)                                                    \
  X(Asin, "asin", 1)                                                      \
  X(Asinh, "asinh", 1)                                                    \
  X(Atan, "atan", 1)                                                      \
  X(Atanh, "atanh", 1)                                                    \
  X(Cosh, "cosh", 1)                                                      \
  X(Sinh, "sinh", 1)                                                      \
  X(Tan, "tan", 1)

enum class PointwiseOp : uint8_t {
#define X(name, text, operands) name,
  TENON_POINTWISE_OPS(X)
#undef X
};

struct PointwiseOpInfo {
  const char* name;
  int operands;
};
const PointwiseOpInfo& pointwise_info(PointwiseOp op);
inline constexpr int64_t kPointwiseOps = 0
#define X(name, text, operands) +1
    TENON_POINTWISE_OPS(X)
#undef X
    ;

// One instruction. Operands are numbered through: first the inputs of the node, then the results of the instructions.
struct PointwiseInstruction {
  static constexpr size_t kMostOperands = 3, kNumbers = 2, kWords = 1 + kMostOperands;
  PointwiseOp op{};
  int64_t operands[kMostOperands] = {-1, -1, -1};
  float numbers[kNumbers] = {0, 0};
  bool operator==(const PointwiseInstruction&) const = default;
};

// More than any expression that is worth one loop.
inline constexpr size_t kMostPointwiseInputs = 32, kMostPointwiseInstructions = 128;

// Pointwise(inputs...): the results of some instructions, each computed in float32 from elements of inputs that
// broadcast to the shape of the result. All results have one shape.
struct PointwiseParams {
  std::vector<int64_t> code;     // of each instruction: op, three operands
  std::vector<float> numbers;    // of each instruction: two
  std::vector<int64_t> results;  // by output: the instruction
  std::vector<int64_t> dtypes;   // by output: the element type, as ONNX numbers them
  void fields(FieldVisitor& v) {
    v.field("code", code);
    v.field("numbers", numbers);
    v.field("results", results);
    v.field("dtypes", dtypes);
  }

  // Instructions that are there in full, whatever a file says.
  size_t size() const {
    return std::min(code.size() / PointwiseInstruction::kWords, numbers.size() / PointwiseInstruction::kNumbers);
  }
  PointwiseInstruction at(size_t i) const;
  void add(const PointwiseInstruction& instruction);
};

}  // namespace tenon
