#include "onnx/onnx_map.h"

namespace tenon {

#define MAPPED(name)                              \
  template <>                                     \
  void onnx_mapping<OpId::name>(OnnxMap & map) {  \
    map.same(kTrainingDomain, #name, OpId::name); \
  }
MAPPED(Adagrad)
MAPPED(Adam)
MAPPED(Momentum)
#undef MAPPED

}  // namespace tenon
