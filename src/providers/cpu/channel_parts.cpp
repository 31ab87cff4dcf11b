// Values in blocks joined and parted along their channels, where each part but the last fills its blocks.
#include "providers/cpu/channel_parts.h"

#include "base/checked_math.h"
#include "ops/concat.h"
#include "ops/split.h"
#include "providers/cpu/strided_copy.h"

namespace tenon {

namespace {

Status check_parts(std::span<const TensorView> parts, std::span<const ValueLayout> layouts, int64_t axis) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!is_blocked(layouts, i) || parts[i].dims.empty())
      return error(Code::Unsupported, "part {} of its channels is not in blocks", i);
    if (axis != 1 && axis + parts[i].rank() != 1) return error(Code::Unsupported, "it has no parts of channels");
    if (i + 1 < parts.size() && parts[i].dims[1] % kLanes != 0)
      return error(Code::Unsupported, "part {} has {} channels, which leave a block unfilled", i, parts[i].dims[1]);
  }
  return {};
}

int64_t image_size(const TensorView& view) {
  return ceil_div(view.dims[1], kLanes) * count_of(view.dims.subspan(2)) * kLanes;
}

// Copies a part to where it is in the whole, or back; it begins so many numbers after the first of an image.
void copy_part(KernelContext& c, const TensorView& part, const TensorView& whole, int64_t at, bool joins) {
  const int64_t run = image_size(part), image = image_size(whole);
  if (run == 0 || part.dims[0] == 0) return;
  StridedCopy copy;
  copy.element_bytes = sizeof(float);
  auto* const place = static_cast<std::byte*>(whole.data) + at * copy.element_bytes;
  copy.from = joins ? static_cast<const std::byte*>(part.data) : place;
  copy.to = joins ? place : static_cast<std::byte*>(part.data);
  copy.add(part.dims[0], joins ? run : image, joins ? image : run);
  copy.add(run, 1, 1);
  run_copies(c, std::span(&copy, 1));
}

}  // namespace

Result<KernelState> bind_concat_blocks(const BindRequest& request) {
  if (!is_blocked(request.output_layouts, 0)) return error(Code::Unsupported, "its result is not in blocks");
  TN_RETURN_IF_ERROR(check_parts(request.inputs, request.input_layouts, request.params.get<ConcatParams>().axis));
  return KernelState{};
}

Status run_concat_blocks(KernelContext& c) {
  int64_t at = 0;
  for (size_t i = 0; i < c.input_count(); at += image_size(c.in(i)), ++i) copy_part(c, c.in(i), c.out(0), at, true);
  return {};
}

Result<KernelState> bind_split_blocks(const BindRequest& request) {
  if (!is_blocked(request.input_layouts, 0)) return error(Code::Unsupported, "its input is not in blocks");
  TN_RETURN_IF_ERROR(check_parts(request.outputs, request.output_layouts, request.params.get<SplitParams>().axis));
  return KernelState{};
}

Status run_split_blocks(KernelContext& c) {
  int64_t at = 0;
  for (size_t i = 0; i < c.output_count(); at += image_size(c.out(i)), ++i) copy_part(c, c.out(i), c.in(0), at, false);
  return {};
}

}  // namespace tenon
