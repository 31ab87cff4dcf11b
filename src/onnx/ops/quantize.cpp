#include "onnx/onnx_map.h"

namespace tenon {

#define MAPPED(name)                             \
  template <>                                    \
  void onnx_mapping<OpId::name>(OnnxMap & map) { \
    map.same(kOnnxDomain, #name, OpId::name);    \
  }
MAPPED(ConvInteger)
MAPPED(DequantizeLinear)
MAPPED(DynamicQuantizeLinear)
MAPPED(MatMulInteger)
MAPPED(QLinearConv)
MAPPED(QLinearMatMul)
MAPPED(QuantizeLinear)
#undef MAPPED

}  // namespace tenon
