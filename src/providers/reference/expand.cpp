// Ops that repeat their input.
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/movement.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::Expand>() {
  return [](KernelContext& c) -> Status {
    if (c.out(0).size() == 0) return {};
    return copy_strided(c.in(0), c.out(0), broadcast_strides(c.in(0).dims, c.out(0).dims));
  };
}

template <>
KernelFunction reference_kernel<OpId::Tile>() {
  return [](KernelContext& c) -> Status {
    if (c.out(0).size() == 0) return {};
    std::vector<AxisMap> maps;
    for (size_t axis = 0; axis < c.out(0).dims.size(); ++axis) {
      const int64_t extent = c.in(0).dims[axis];
      maps.push_back(axis_map(c.out(0).dims[axis], [&](int64_t i) { return i % extent; }));
    }
    return copy_mapped(c.in(0), c.out(0), maps);
  };
}

}  // namespace tenon
