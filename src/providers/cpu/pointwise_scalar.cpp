#include <cmath>

#include "providers/cpu/pointwise_simd.h"

namespace tenon {

namespace {

void raise_each(const float* const* operands, float* out, int64_t count, const float*) {
  for (int64_t i = 0; i < count; ++i) out[i] = std::pow(operands[0][i], operands[1][i]);
}

// Models hardly ever have other powers than these. The exponent is looked at here, so that it can be a weight.
void raise_to_number(const float* const* operands, float* out, int64_t count, const float*) {
  const float *x = operands[0], exponent = operands[1][0];
  if (exponent == 2) {
    for (int64_t i = 0; i < count; ++i) out[i] = x[i] * x[i];
  } else if (exponent == 3) {
    for (int64_t i = 0; i < count; ++i) out[i] = x[i] * x[i] * x[i];
  } else if (exponent == -1) {
    for (int64_t i = 0; i < count; ++i) out[i] = 1 / x[i];
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = std::pow(x[i], exponent);
  }
}

template <float (*kFunction)(float)>
void compute_each(const float* const* operands, float* out, int64_t count, const float*) {
  for (int64_t i = 0; i < count; ++i) out[i] = kFunction(operands[0][i]);
}

PointwiseFunction power_tile(TileForm form) {
  switch (form) {
    case TileForm::Vectors:
      return raise_each;
    case TileForm::SecondNumber:
      return raise_to_number;
    case TileForm::FirstNumber:
      break;
  }
  return nullptr;
}

}  // namespace

PointwiseFunction scalar_tile(PointwiseOp op, TileForm form) {
  if (op == PointwiseOp::Pow) return power_tile(form);
  if (form != TileForm::Vectors) return nullptr;
  if (op == PointwiseOp::Sin) return compute_each<std::sin>;
  if (op == PointwiseOp::Cos) return compute_each<std::cos>;
  return nullptr;
}

}  // namespace tenon
