#include "onnx/ops/required_shapes.h"

#include "onnx/onnx_map.h"
#include "ops/require_shapes.h"

namespace tenon {

void require_shapes(ImportNode& n, const std::vector<RequiredShape>& required) {
  if (!n.status().ok()) return;
  RequireShapesParams params;
  params.op_type = n.node().op_type;
  std::vector<ValueId> open;
  std::vector<const Shape*> shapes;
  for (const RequiredShape& r : required) {
    if (r.value == kNone) continue;
    const auto& shape = n.type(r.value).shape;
    // Weights have a shape, so no step reads them for the sake of it.
    const bool is_known = shape && is_static(*shape);
    shapes.push_back(shape ? &*shape : nullptr);
    params.names.push_back(r.name);
    params.required.push_back(r.shape);
    params.given.push_back(is_known ? shape_text(*shape) : "");
    open.push_back(is_known ? ValueId(kNone) : r.value);
  }
  const auto fit = fit_required_shapes(params, shapes);
  if (!fit.ok()) return n.fail(fit.status());
  if (*fit == Fit::Open) n.emit(OpId::RequireShapes, Params::of(std::move(params)), std::move(open), 0);
}

// ONNX has no such node. An ONNX node that is written as it was read demands the same when it is read again.
template <>
void onnx_mapping<OpId::RequireShapes>(OnnxMap&) {}

}  // namespace tenon
