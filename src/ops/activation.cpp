#include "ops/infer.h"

namespace tenon {

template <>
OpDef op_definition<OpId::Relu>() {
  return define<NoParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = [](InferContext& c) {
                             return infer_same_as_input(c, kFloats | kSignedInts);
                           }});
}

}  // namespace tenon
