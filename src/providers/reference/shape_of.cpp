#include "ops/shape_of.h"

#include <algorithm>

#include "providers/reference/kernel.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::Shape>() {
  return [](KernelContext& c) -> Status {
    const Dims dims = c.in(0).dims;
    const auto [first, last] = c.params<ShapeParams>().range(c.in(0).rank());
    std::copy(dims.begin() + first, dims.begin() + last, c.out(0).as<int64_t>().begin());
    return {};
  };
}

}  // namespace tenon
