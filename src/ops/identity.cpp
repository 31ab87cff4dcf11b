#include "ops/accepted.h"
#include "ops/infer.h"

namespace tenon {

template <>
OpDef op_definition<OpId::Identity>() {
  return define<NoParams>({.inputs = {1, 1},
                           .outputs = {1, 1},
                           .infer =
                               [](InferContext& c) {
                                 c.out(0, c.in(0));
                                 if (auto known = c.propagated(0)) c.out_values(0, std::move(*known));
                                 return Status();
                               },
                           .in_place = InPlace::SameElements,
                           .accepts = accepts_moved,
                           .rounding = kNotRounded});
}

}  // namespace tenon
