#include "ops/unfold.h"

#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/movement.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::UnfoldTensor>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<UnfoldTensorParams>();
    std::vector<int64_t> strides = row_major_strides(c.in(0).dims);
    const auto axis = static_cast<size_t>(p.dim < 0 ? p.dim + c.in(0).rank() : p.dim);
    const int64_t along = strides[axis];
    // One slice only has no next one, however large the step is.
    strides[axis] = c.out(0).dims[axis] > 1 ? along * p.step : 0;
    strides.push_back(along);
    return copy_strided(c.in(0), c.out(0), std::move(strides));
  };
}

}  // namespace tenon
