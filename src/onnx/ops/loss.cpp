#include "onnx/onnx_map.h"

namespace tenon {

#define MAPPED(name)                             \
  template <>                                    \
  void onnx_mapping<OpId::name>(OnnxMap & map) { \
    map.same(kOnnxDomain, #name, OpId::name);    \
  }
MAPPED(NegativeLogLikelihoodLoss)
MAPPED(SoftmaxCrossEntropyLoss)
#undef MAPPED

}  // namespace tenon
