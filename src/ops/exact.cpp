#include "ops/exact.h"

namespace tenon {

bool is_exact_op(OpId op, DType result) {
  switch (op) {
    // Integers may be divided by zero.
    case OpId::Div:
      return is_float(result);
    // Elements that only move.
    case OpId::BitCast:
    case OpId::Concat:
    case OpId::DepthToSpace:
    case OpId::Expand:
    case OpId::Flatten:
    case OpId::Identity:
    case OpId::PackPanels:
    case OpId::Pad:
    case OpId::Reshape:
    case OpId::Slice:
    case OpId::SpaceToDepth:
    case OpId::Split:
    case OpId::Squeeze:
    case OpId::Tile:
    case OpId::Transpose:
    case OpId::Trilu:
    case OpId::Unsqueeze:
    case OpId::Where:
    // Each result is rounded once from an exact one.
    case OpId::Abs:
    case OpId::Add:
    case OpId::Cast:
    case OpId::Ceil:
    case OpId::Clip:
    case OpId::DequantizeLinear:
    case OpId::Floor:
    case OpId::Max:
    case OpId::Min:
    case OpId::Mul:
    case OpId::Neg:
    case OpId::QuantizeLinear:
    case OpId::Reciprocal:
    case OpId::Relu:
    case OpId::Round:
    case OpId::Sign:
    case OpId::Sqrt:
    case OpId::Sub:
    // Sums in double, in the order of the elements.
    case OpId::Gemm:
    case OpId::MatMul:
    case OpId::ReduceMax:
    case OpId::ReduceMean:
    case OpId::ReduceMin:
    case OpId::ReduceSum:
    case OpId::ReduceSumSquare:
      return true;
    default:
      return false;
  }
}

}  // namespace tenon
