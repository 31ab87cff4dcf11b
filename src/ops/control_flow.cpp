#include "ops/infer.h"

namespace tenon {

namespace {

// Each output is what both branches agree on.
Status infer_if(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kBool));
  TN_ASSIGN_OR_RETURN(auto then_types, c.infer_body(0, {}));
  TN_ASSIGN_OR_RETURN(auto else_types, c.infer_body(1, {}));
  if (then_types.size() != else_types.size() || then_types.size() != c.output_count())
    return invalid_model("If has {} outputs, but its branches return {} and {} values", c.output_count(),
                         then_types.size(), else_types.size());
  for (size_t i = 0; i < then_types.size(); ++i) c.out(i, join(then_types[i], else_types[i]));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::If>() {
  OpDef def{.inputs = {1, 1}, .outputs = {0, kVariadic}, .infer = infer_if};
  def.has_bodies = true;
  return define<NoParams>(def);
}

}  // namespace tenon
