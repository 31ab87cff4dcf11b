#include "providers/cpu/conv_shape.h"
#include "providers/cpu/kernel.h"
#include "providers/packed_activation.h"
#include "providers/reference/kernel.h"

namespace tenon {

namespace {

// Fewer output positions than this are rows of a matrix product; more are its columns.
constexpr int64_t kFewPositions = 16;

}  // namespace

Status run_cpu_packed_conv(KernelContext& c) {
  const auto& p = c.params<PackedConvParams>();
  ConvJob job;
  TN_ASSIGN_OR_RETURN(job.activation, packed_activation(c, p.activation));
  if (c.out(0).size() == 0) return {};
  TN_ASSIGN_OR_RETURN(job.shape, ConvShape::of(c.in(0).dims, c.out(0).dims, p));
  job.x = c.in(0).as<float>().data();
  job.packed = c.in(1).as<float>().data();
  job.bias = c.has(2) ? c.in(2).as<float>().data() : nullptr;
  job.y = c.out(0).as<float>().data();
  if (p.layout == kDepthwiseLayout) {
    if (convolve_depthwise(c, job)) return {};
    return find_reference_kernel("PackedConv")(c);
  }
  if (job.shape.out_plane() < kFewPositions)
    convolve_points(c, job);
  else
    convolve_planes(c, job);
  return {};
}

}  // namespace tenon
