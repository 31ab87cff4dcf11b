#include "ops/pointwise.h"

#include <algorithm>
#include <cmath>

#include "base/exact_math.h"
#include "providers/reference/element_access.h"
#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"

namespace tenon {

namespace {

double softplus_of(double x) { return std::max(x, 0.0) + exact::log1p(exact::exp(-std::fabs(x))); }

// x, y, z: the operands; a, b: the numbers.
double value_of(PointwiseOp op, double x, double y, double z, double a, double b) {
  switch (op) {
    using enum PointwiseOp;
    case Abs:
      return std::fabs(x);
    case Acos:
      return exact::acos(x);
    case Acosh:
      return exact::acosh(x);
    case Add:
      return x + y;
    case And:
      return x != 0 && y != 0;
    case Asin:
      return exact::asin(x);
    case Asinh:
      return exact::asinh(x);
    case Atan:
      return exact::atan(x);
    case Atanh:
      return exact::atanh(x);
    case Ceil:
      return std::ceil(x);
    case Celu:
      return x < 0 ? a * exact::expm1(x / a) : x;
    case Clip:
      return x < y ? (y > z ? z : y) : x > z ? z : x;
    case ClipTo:
      return x < a ? (a > b ? b : a) : x > b ? b : x;
    case Cos:
      return exact::cos(x);
    case Cosh:
      return exact::cosh(x);
    case Div:
      return x / y;
    case Elu:
      return x < 0 ? a * exact::expm1(x) : x;
    case Equal:
      return x == y;
    case Erf:
      return exact::erf(x);
    case Exp:
      return exact::exp(x);
    case Floor:
      return std::floor(x);
    case Gelu:
      return 0.5 * x * (1 + exact::erf(x * std::sqrt(0.5)));
    case GeluTanh:
      return 0.5 * x * (1 + exact::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case Greater:
      return x > y;
    case GreaterOrEqual:
      return x >= y;
    case HardSigmoid:
      return std::clamp(a * x + b, 0.0, 1.0);
    case HardSwish:
      return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case IsInf:
      return std::isinf(x) ? (x > 0 ? a : b) : 0;
    case IsNaN:
      return std::isnan(x);
    case LeakyRelu:
      return x < 0 ? a * x : x;
    case Less:
      return x < y;
    case LessOrEqual:
      return x <= y;
    case Log:
      return exact::log(x);
    case Max:
      return x > y || x != x ? x : y;
    case Min:
      return x < y || x != x ? x : y;
    case Mish:
      return x * exact::tanh(softplus_of(x));
    case Mul:
      return x * y;
    case Neg:
      return -x;
    case Not:
      return x == 0;
    case Or:
      return x != 0 || y != 0;
    case PRelu:
      return x < 0 ? x * y : x;
    case Pow:
      return exact::pow(x, y);
    case Reciprocal:
      return 1 / x;
    case Relu:
      return x < 0 ? 0 : x;
    case Round:
      return std::nearbyint(x);
    case RoundToBFloat16:
      return static_cast<double>(BFloat16(static_cast<float>(x)));
    case RoundToFloat16:
      return static_cast<double>(Float16(static_cast<float>(x)));
    case Same:
      return x;
    case Selu:
      return b * (x > 0 ? x : a * exact::expm1(x));
    case Shrink:
      return x < -b ? x + a : x > b ? x - a : 0;
    case Sigmoid:
      return exact::sigmoid(x);
    case Sign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    case Silu:
      return x * exact::sigmoid(a * x);
    case Sin:
      return exact::sin(x);
    case Sinh:
      return exact::sinh(x);
    case Softplus:
      return softplus_of(x);
    case Softsign:
      return x / (1 + std::fabs(x));
    case Sqrt:
      return std::sqrt(x);
    case Square:
      return x * x;
    case Sub:
      return x - y;
    case Tan:
      return exact::tan(x);
    case Tanh:
      return exact::tanh(x);
    case ThresholdedRelu:
      return x > a ? x : 0;
    case Truth:
      return x != 0;
    case Where:
      return x != 0 ? y : z;
    case Xor:
      return (x != 0) != (y != 0);
  }
  return x;
}

Status reference_pointwise(KernelContext& c) {
  const auto& p = c.params<PointwiseParams>();
  size_t any = 0;
  while (!c.wants(any)) ++any;
  std::vector<Walker<1>> walkers;
  for (size_t i = 0; i < c.input_count(); ++i)
    walkers.emplace_back(c.out(any).dims, std::array{broadcast_strides(c.in(i).dims, c.out(any).dims)});
  std::vector<double> values(c.input_count() + p.size());
  for (int64_t n = 0; walkers[0].more(); ++n) {
    for (size_t i = 0; i < walkers.size(); ++i) {
      values[i] = number_at(c.in(i), walkers[i].at(0));
      walkers[i].next();
    }
    for (size_t i = 0; i < p.size(); ++i) {
      const PointwiseInstruction instruction = p.at(i);
      const auto operand = [&](size_t k) {
        return instruction.operands[k] < 0 ? 0.0 : values[static_cast<size_t>(instruction.operands[k])];
      };
      values[c.input_count() + i] =
          value_of(instruction.op, operand(0), operand(1), operand(2), instruction.numbers[0], instruction.numbers[1]);
    }
    for (size_t i = 0; i < c.output_count(); ++i)
      if (c.wants(i)) store_number(c.out(i), n, values[c.input_count() + static_cast<size_t>(p.results[i])]);
  }
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Pointwise>() {
  return reference_pointwise;
}

}  // namespace tenon
