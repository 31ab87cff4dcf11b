#include "onnx/onnx_map.h"
#include "onnx/ops/legacy_broadcast.h"

namespace tenon {

#define MAPPED(name)                             \
  template <>                                    \
  void onnx_mapping<OpId::name>(OnnxMap & map) { \
    map.same(kOnnxDomain, #name, OpId::name);    \
  }
MAPPED(Max)
MAPPED(Mean)
MAPPED(Min)
MAPPED(Sum)
#undef MAPPED

#define BINARY(name, ...)                                                              \
  template <>                                                                          \
  void onnx_mapping<OpId::name>(OnnxMap & map) {                                       \
    map.custom(kOnnxDomain, #name, OpId::name, import_binary<OpId::name>) __VA_ARGS__; \
  }
BINARY(Add)
BINARY(And)
BINARY(BitShift, .needs("direction"))
BINARY(BitwiseAnd)
BINARY(BitwiseOr)
BINARY(BitwiseXor)
BINARY(Div)
BINARY(Equal)
BINARY(Greater)
BINARY(GreaterOrEqual)
BINARY(Less)
BINARY(LessOrEqual)
BINARY(Mod)
BINARY(Mul)
BINARY(Or)
BINARY(Pow)
BINARY(Sub)
BINARY(Xor)
#undef BINARY

template <>
void onnx_mapping<OpId::Where>(OnnxMap& map) {
  map.same(kOnnxDomain, "Where", OpId::Where);
}

}  // namespace tenon
