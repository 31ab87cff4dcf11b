#include "onnx/onnx_map.h"

namespace tenon {

#define MAPPED(name)                             \
  template <>                                    \
  void onnx_mapping<OpId::name>(OnnxMap & map) { \
    map.same(kOnnxDomain, #name, OpId::name);    \
  }
MAPPED(Abs)
MAPPED(Acos)
MAPPED(Acosh)
MAPPED(Asin)
MAPPED(Asinh)
MAPPED(Atan)
MAPPED(Atanh)
MAPPED(BitwiseNot)
MAPPED(Ceil)
MAPPED(Cos)
MAPPED(Cosh)
MAPPED(Erf)
MAPPED(Exp)
MAPPED(Floor)
MAPPED(IsInf)
MAPPED(IsNaN)
MAPPED(Log)
MAPPED(Neg)
MAPPED(Not)
MAPPED(Reciprocal)
MAPPED(Round)
MAPPED(Sigmoid)
MAPPED(Sign)
MAPPED(Sin)
MAPPED(Sinh)
MAPPED(Sqrt)
MAPPED(Tan)
MAPPED(Tanh)
#undef MAPPED

}  // namespace tenon
