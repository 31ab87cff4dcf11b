#include "providers/reference/movement.h"

#include <algorithm>

#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/text_meter.h"

namespace tenon {

AxisMap axis_range(int64_t count, int64_t start, int64_t step) {
  return axis_map(count, [&](int64_t i) { return start + i * step; });
}

Status copy_mapped(const TensorView& in, const TensorView& out, const std::vector<AxisMap>& maps, const void* fill) {
  if (out.size() == 0) return {};
  const std::vector<int64_t> strides = row_major_strides(in.dims);
  return dispatch_by_size(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* source = static_cast<const T*>(in.data);
    T* target = static_cast<T*>(out.data);
    TextMeter meter;
    for (Walker<0> w(out.dims, {}); w.more(); w.next()) {
      int64_t offset = 0;
      bool inside = true;
      for (size_t axis = 0; axis < maps.size(); ++axis) {
        const int64_t from = maps[axis][static_cast<size_t>(w.index()[axis])];
        inside = inside && from != kFill;
        offset += from * strides[axis];
      }
      meter.copy(inside ? source[offset] : *static_cast<const T*>(fill), target[w.position()]);
    }
    return Status();
  });
}

Status copy_strided(const TensorView& in, const TensorView& out, std::vector<int64_t> strides) {
  return dispatch_by_size(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* source = static_cast<const T*>(in.data);
    T* target = static_cast<T*>(out.data);
    TextMeter meter;
    for (Walker<1> w(out.dims, {strides}); w.more(); w.next()) meter.copy(source[w.at(0)], target[w.position()]);
    return Status();
  });
}

Status copy_transposed(const TensorView& in, const TensorView& out, const std::vector<int64_t>& perm) {
  if (out.size() == 0) return {};
  const std::vector<int64_t> own = row_major_strides(in.dims);
  std::vector<int64_t> strides, dims;
  for (int64_t axis : perm) {
    strides.push_back(own[static_cast<size_t>(axis)]);
    dims.push_back(in.dims[static_cast<size_t>(axis)]);
  }
  return copy_strided(in, {out.dtype, dims, out.data}, std::move(strides));
}

}  // namespace tenon
