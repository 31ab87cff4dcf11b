#include "ops/infer.h"

namespace tenon {

// Reorder(x): the same elements. Its input and output may have different layouts in a plan; that is what it is for.
template <>
OpDef op_definition<OpId::Reorder>() {
  return define<NoParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = [](InferContext& c) {
                             return infer_same_as_input(c, {DType::Float32});
                           }});
}

}  // namespace tenon
