#include "providers/cpu/conv_shape.h"
#include "providers/cpu/kernel.h"
#include "providers/packed_activation.h"
#include "providers/reference/kernel.h"

namespace tenon {

ConvTensors::ConvTensors(const KernelContext& c, const FusedActivation& bound)
    : x(c.in(0).as<float>().data()), packed(c.in(1).as<float>().data()),
      bias(c.has(2) ? c.in(2).as<float>().data() : nullptr), y(c.out(0).as<float>().data()),
      addend(c.has(kPackedAddend) ? static_cast<const float*>(c.in(kPackedAddend).data) : nullptr),
      activation(with_given_bounds(c, bound)) {}

Status check_addend(const BindRequest& request) {
  const bool has_one = request.inputs.size() > kPackedAddend;
  if (has_one && is_blocked(request.input_layouts, kPackedAddend) != is_blocked(request.output_layouts, 0))
    return error(Code::Unsupported, "what is added to its result has another layout");
  return {};
}

std::span<const Variant> packed_conv_variants() {
  static const Variant variants[] = {
      {"depthwise", run_conv_depthwise, bind_conv_depthwise},
      {.name = "depthwise blocks",
       .run = run_conv_depthwise_blocks,
       .bind = bind_conv_depthwise_blocks,
       .layouts = Variant::For::Blocks},
      {.name = "winograd", .run = run_conv_winograd, .bind = bind_conv_winograd, .layouts = Variant::For::Both},
      {.name = "blocks", .run = run_conv_blocks, .bind = bind_conv_blocks, .layouts = Variant::For::Blocks},
      {"points", run_conv_points, bind_conv_points},
      {"bands", run_conv_bands, bind_conv_bands},
      {"planes", run_conv_planes, bind_conv_planes},
      {"plain", find_reference_family("reference/PackedConv")->variants[0].run}};
  return variants;
}

}  // namespace tenon
