#include "ops/slice.h"

#include "providers/reference/integers.h"
#include "providers/reference/kernel.h"
#include "providers/reference/movement.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::Slice>() {
  return [](KernelContext& c) -> Status {
    const TensorView &in = c.in(0), &out = c.out(0);
    if (out.size() == 0) return {};
    std::vector<AxisMap> maps;
    for (int64_t extent : out.dims) maps.push_back(axis_range(extent));
    for (int64_t i = 0; i < c.in(1).size(); ++i) {
      int64_t axis = c.has(3) ? integer_at(c.in(3), i) : i;
      axis += axis < 0 ? in.rank() : 0;
      const SliceRange range = clamp_slice(in.dims[static_cast<size_t>(axis)], integer_at(c.in(1), i),
                                           integer_at(c.in(2), i), c.has(4) ? integer_at(c.in(4), i) : 1);
      maps[static_cast<size_t>(axis)] = axis_range(range.count, range.start, range.step);
    }
    return copy_mapped(in, out, maps);
  };
}

}  // namespace tenon
