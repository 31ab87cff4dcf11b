#include "ops/pointwise.h"

#include <fmt/format.h>

#include "ops/infer.h"

namespace tenon {

const PointwiseOpInfo& pointwise_info(PointwiseOp op) {
  static constexpr PointwiseOpInfo infos[] = {
#define X(name, text, operands) {text, operands},
      TENON_POINTWISE_OPS(X)
#undef X
  };
  return infos[static_cast<size_t>(op)];
}

namespace {

constexpr size_t kWords = PointwiseInstruction::kWords;
constexpr TypeSet kPointwiseTypes{DType::Float32, DType::Float16, DType::BFloat16, DType::Bool};

// Instructions, operands and results that exist.
Status check_code(const PointwiseParams& p, size_t inputs, size_t outputs) {
  const size_t count = p.size();
  if (count == 0 || p.code.size() != count * kWords || p.numbers.size() != count * PointwiseInstruction::kNumbers)
    return invalid_model("the code of a pointwise expression has {} words for {} numbers", p.code.size(),
                         p.numbers.size());
  if (inputs > kMostPointwiseInputs || count > kMostPointwiseInstructions)
    return invalid_model("a pointwise expression has {} inputs and {} instructions; at most {} and {} are supported",
                         inputs, count, kMostPointwiseInputs, kMostPointwiseInstructions);
  for (size_t i = 0; i < count; ++i) {
    const int64_t op = p.code[i * kWords];
    if (op < 0 || op >= kPointwiseOps) return invalid_model("instruction {} has the unknown number {}", i, op);
    const PointwiseInstruction instruction = p.at(i);
    for (int k = 0; k < pointwise_info(instruction.op).operands; ++k)
      if (instruction.operands[k] < 0 || instruction.operands[k] >= static_cast<int64_t>(inputs + i))
        return invalid_model("operand {} of instruction {} does not exist", k, i);
  }
  if (p.results.size() != outputs || p.dtypes.size() != outputs)
    return invalid_model("a pointwise expression with {} outputs says what {} are", outputs, p.results.size());
  for (size_t i = 0; i < outputs; ++i) {
    if (p.results[i] < 0 || p.results[i] >= static_cast<int64_t>(count))
      return invalid_model("result {} does not exist", i);
    const auto dtype = dtype_from_onnx(p.dtypes[i]);
    if (!dtype || !kPointwiseTypes.has(*dtype)) return invalid_model("result {} has an unknown type", i);
  }
  return {};
}

Status infer_pointwise(InferContext& c) {
  const auto& p = c.params<PointwiseParams>();
  TN_RETURN_IF_ERROR(check_code(p, c.input_count(), c.output_count()));
  std::vector<std::optional<Shape>> shapes;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has(i)) return invalid_model("input {} of a pointwise expression is missing", i);
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kPointwiseTypes));
    shapes.push_back(c.in(i).shape);
  }
  for (size_t i = 0; i < p.size(); ++i) {
    const PointwiseInstruction instruction = p.at(i);
    std::optional<Shape> shape = shapes[static_cast<size_t>(instruction.operands[0])];
    for (int k = 1; k < pointwise_info(instruction.op).operands; ++k) {
      const auto& other = shapes[static_cast<size_t>(instruction.operands[k])];
      if (!shape || !other) {
        shape.reset();
        break;
      }
      TN_ASSIGN_OR_RETURN(shape, broadcast(*shape, *other));
    }
    shapes.push_back(std::move(shape));
  }
  for (size_t i = 0; i < c.output_count(); ++i)
    c.out(i, *dtype_from_onnx(p.dtypes[i]), shapes[c.input_count() + static_cast<size_t>(p.results[i])]);
  return {};
}

}  // namespace

PointwiseInstruction PointwiseParams::at(size_t i) const {
  PointwiseInstruction instruction{static_cast<PointwiseOp>(code[i * kWords]), {}, {}};
  for (size_t k = 0; k < PointwiseInstruction::kMostOperands; ++k) instruction.operands[k] = code[i * kWords + 1 + k];
  for (size_t k = 0; k < PointwiseInstruction::kNumbers; ++k)
    instruction.numbers[k] = numbers[i * PointwiseInstruction::kNumbers + k];
  return instruction;
}

void PointwiseParams::add(const PointwiseInstruction& instruction) {
  code.push_back(static_cast<int64_t>(instruction.op));
  code.insert(code.end(), std::begin(instruction.operands), std::end(instruction.operands));
  numbers.insert(numbers.end(), std::begin(instruction.numbers), std::end(instruction.numbers));
}

template <>
OpDef op_definition<OpId::Pointwise>() {
  return define<PointwiseParams>({.inputs = {1, kVariadic},
                                  .outputs = {1, kVariadic},
                                  .infer = infer_pointwise,
                                  .exact = false,
                                  .in_place = InPlace::Elementwise});
}

}  // namespace tenon
