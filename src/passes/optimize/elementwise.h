#pragma once

#include "ir/graph.h"

namespace tenon {

// Whether an op computes each element of its result from the elements at the same place, or the broadcast ones.
inline bool is_elementwise(OpId op) {
  switch (op) {
    case OpId::Abs:
    case OpId::Add:
    case OpId::Cast:
    case OpId::Ceil:
    case OpId::Clip:
    case OpId::Div:
    case OpId::Elu:
    case OpId::Erf:
    case OpId::Exp:
    case OpId::Floor:
    case OpId::Gelu:
    case OpId::HardSigmoid:
    case OpId::HardSwish:
    case OpId::LeakyRelu:
    case OpId::Log:
    case OpId::Max:
    case OpId::Min:
    case OpId::Mul:
    case OpId::Neg:
    case OpId::Pow:
    case OpId::Reciprocal:
    case OpId::Relu:
    case OpId::Selu:
    case OpId::Sigmoid:
    case OpId::Softplus:
    case OpId::Softsign:
    case OpId::Sqrt:
    case OpId::Sub:
    case OpId::Swish:
    case OpId::Tanh:
      return true;
    default:
      return false;
  }
}

}  // namespace tenon
