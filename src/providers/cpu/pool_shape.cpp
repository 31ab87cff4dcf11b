#include "providers/cpu/pool_shape.h"

namespace tenon {

Result<PoolShape> PoolShape::of(const BindRequest& request, const WindowParams& params) {
  const Dims x = request.inputs[0].dims, y = request.outputs[0].dims;
  if (request.inputs[0].dtype != DType::Float32) return error(Code::Unsupported, "its elements are not float32");
  if (x.size() > 5) return error(Code::Unsupported, "it has {} spatial axes; this kernel takes 1 to 3", x.size() - 2);
  PoolShape shape;
  const size_t rank = x.size() - 2;
  TN_ASSIGN_OR_RETURN(const Window given, make_window(params, rank));
  const Window window = given.padded_for(x.subspan(2));
  shape.planes = x[0] * x[1];
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = 3 - rank + i;
    shape.in[axis] = x[i + 2];
    shape.out[axis] = y[i + 2];
    shape.window[axis] = window.axes[i];
  }
  return shape;
}

}  // namespace tenon
