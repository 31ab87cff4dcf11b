#include "providers/cpu/conv_shape.h"
#include "providers/cpu/kernel.h"
#include "providers/packed_activation.h"
#include "providers/reference/kernel.h"

namespace tenon {

ConvTensors::ConvTensors(const KernelContext& c, const FusedActivation& bound)
    : x(c.in(0).as<float>().data()), packed(c.in(1).as<float>().data()),
      bias(c.has(2) ? c.in(2).as<float>().data() : nullptr), y(c.out(0).as<float>().data()),
      activation(with_given_bounds(c, bound)) {}

std::span<const Variant> packed_conv_variants() {
  static const Variant variants[] = {{"depthwise", run_conv_depthwise, bind_conv_depthwise},
                                     {"winograd", run_conv_winograd, bind_conv_winograd},
                                     {"points", run_conv_points, bind_conv_points},
                                     {"bands", run_conv_bands, bind_conv_bands},
                                     {"planes", run_conv_planes, bind_conv_planes},
                                     {"plain", find_reference_family("reference/PackedConv")->variants[0].run}};
  return variants;
}

}  // namespace tenon
