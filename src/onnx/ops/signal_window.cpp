#include "onnx/onnx_map.h"

namespace tenon {

#define MAPPED(name)                             \
  template <>                                    \
  void onnx_mapping<OpId::name>(OnnxMap & map) { \
    map.same(kOnnxDomain, #name, OpId::name);    \
  }
MAPPED(BlackmanWindow)
MAPPED(Det)
MAPPED(HammingWindow)
MAPPED(HannWindow)
MAPPED(MelWeightMatrix)
#undef MAPPED

}  // namespace tenon
