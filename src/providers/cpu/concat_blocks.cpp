// Values in blocks joined along their channels, where each but the last fills its blocks.
#include "providers/cpu/concat_blocks.h"

#include "base/checked_math.h"
#include "ops/concat.h"
#include "providers/cpu/strided_copy.h"

namespace tenon {

Result<KernelState> bind_concat_blocks(const BindRequest& request) {
  const int64_t axis = request.params.get<ConcatParams>().axis;
  const auto rank = static_cast<int64_t>(request.outputs[0].dims.size());
  if (axis != 1 && axis + rank != 1) return error(Code::Unsupported, "it does not join channels");
  if (!is_blocked(request.output_layouts, 0)) return error(Code::Unsupported, "its result is not in blocks");
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (!is_blocked(request.input_layouts, i)) return error(Code::Unsupported, "input {} is not in blocks", i);
    if (i + 1 < request.inputs.size() && request.inputs[i].dims[1] % kLanes != 0)
      return error(Code::Unsupported, "input {} has {} channels, which leave a block unfilled", i,
                   request.inputs[i].dims[1]);
  }
  return KernelState{};
}

Status run_concat_blocks(KernelContext& c) {
  const TensorView& out = c.out(0);
  if (out.size() == 0) return {};
  const int64_t plane = count_of(out.dims.subspan(2)) * kLanes, image = ceil_div(out.dims[1], kLanes) * plane;
  int64_t at = 0;
  for (size_t i = 0; i < c.input_count(); ++i) {
    const int64_t run = ceil_div(c.in(i).dims[1], kLanes) * plane;
    if (run == 0) continue;
    StridedCopy copy;
    copy.element_bytes = sizeof(float);
    copy.from = static_cast<const std::byte*>(c.in(i).data);
    copy.to = static_cast<std::byte*>(out.data) + at * copy.element_bytes;
    copy.add(out.dims[0], run, image);
    copy.add(run, 1, 1);
    run_copies(c, std::span(&copy, 1));
    at += run;
  }
  return {};
}

}  // namespace tenon
