// Ops that reorder axes.
#include "ops/transpose.h"

#include "ops/depth_space.h"
#include "providers/reference/kernel.h"
#include "providers/reference/movement.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::Transpose>() {
  return [](KernelContext& c) -> Status {
    const int64_t rank = c.in(0).rank();
    std::vector<int64_t> perm;
    if (const auto& given = c.params<TransposeParams>().perm) {
      for (int64_t axis : *given) perm.push_back(axis < 0 ? axis + rank : axis);
    } else {
      for (int64_t axis = rank; axis-- > 0;) perm.push_back(axis);
    }
    return copy_transposed(c.in(0), c.out(0), perm);
  };
}

template <>
KernelFunction reference_kernel<OpId::DepthToSpace>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<DepthSpaceParams>();
    const Dims in = c.in(0).dims, out = c.out(0).dims;
    const int64_t b = p.blocksize;
    // Depth seen as its three factors.
    const bool blocks_first = p.mode == "DCR";
    const std::vector<int64_t> dims = blocks_first ? std::vector<int64_t>{in[0], b, b, out[1], in[2], in[3]}
                                                   : std::vector<int64_t>{in[0], out[1], b, b, in[2], in[3]};
    const std::vector<int64_t> perm =
        blocks_first ? std::vector<int64_t>{0, 3, 4, 1, 5, 2} : std::vector<int64_t>{0, 1, 4, 2, 5, 3};
    return copy_transposed({c.in(0).dtype, dims, c.in(0).data}, c.out(0), perm);
  };
}

template <>
KernelFunction reference_kernel<OpId::SpaceToDepth>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<DepthSpaceParams>();
    const Dims in = c.in(0).dims, out = c.out(0).dims;
    const std::vector<int64_t> dims{in[0], in[1], out[2], p.blocksize, out[3], p.blocksize};
    const std::vector<int64_t> perm =
        p.mode == "DCR" ? std::vector<int64_t>{0, 3, 5, 1, 2, 4} : std::vector<int64_t>{0, 1, 3, 5, 2, 4};
    return copy_transposed({c.in(0).dtype, dims, c.in(0).data}, c.out(0), perm);
  };
}

}  // namespace tenon
