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
    if (maps.empty()) {
      meter.copy(*source, *target);
      return Status();
    }
    // What the other axes say holds for a whole row of the last one.
    const size_t last = maps.size() - 1;
    const int64_t extent = out.dims[last];
    for (Walker<0> w(out.dims.first(last), {}); w.more(); w.next()) {
      int64_t row = 0;
      bool inside = true;
      for (size_t axis = 0; axis < last; ++axis) {
        const int64_t from = maps[axis][static_cast<size_t>(w.index()[axis])];
        inside = inside && from != kFill;
        row += from * strides[axis];
      }
      T* to = target + w.position() * extent;
      for_each_index(extent, [&](int64_t i) {
        const int64_t from = maps[last][static_cast<size_t>(i)];
        meter.copy(inside && from != kFill ? source[row + from] : *static_cast<const T*>(fill), to[i]);
      });
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
