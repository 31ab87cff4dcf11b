#include "ops/unsupported.h"

#include "ops/infer.h"

namespace tenon {

template <>
OpDef op_definition<OpId::Unsupported>() {
  return define<UnsupportedParams>({.inputs = {0, kVariadic},
                                    .outputs = {0, kVariadic},
                                    .infer = [](InferContext&) { return Status(); },
                                    .exact = false});
}

}  // namespace tenon
