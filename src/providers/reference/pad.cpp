#include "ops/pad.h"

#include "providers/reference/integers.h"
#include "providers/reference/kernel.h"
#include "providers/reference/pad_axis.h"

namespace tenon {

namespace {

// One zero (or empty string) of any type.
struct ZeroElement {
  alignas(16) std::byte bytes[16]{};
  std::string text;
  const void* of(DType dtype) const { return dtype == DType::String ? static_cast<const void*>(&text) : bytes; }
};

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Pad>() {
  return [](KernelContext& c) -> Status {
    const TensorView &in = c.in(0), &out = c.out(0);
    if (out.size() == 0) return {};
    const std::string& mode = c.params<PadParams>().mode;
    const Scratch<int64_t> pads = integers_of(c.in(1));
    const size_t half = pads.size() / 2;
    std::vector<AxisMap> maps;
    for (int64_t extent : out.dims) maps.push_back(axis_range(extent));
    for (size_t i = 0; i < half; ++i) {
      int64_t axis = c.has(3) ? integer_at(c.in(3), static_cast<int64_t>(i)) : static_cast<int64_t>(i);
      axis += axis < 0 ? in.rank() : 0;
      const PadAxis padded = PadAxis::of(in.dims[static_cast<size_t>(axis)], pads[i], pads[half + i]);
      AxisMap& map = maps[static_cast<size_t>(axis)];
      for_each_index(static_cast<int64_t>(map.size()), [&](int64_t at) {
        int64_t& from = map[static_cast<size_t>(at)];
        from = padded.source(mode, from);
      });
    }
    const ZeroElement zero;
    return copy_mapped(in, out, maps, c.has(2) ? c.in(2).data : zero.of(out.dtype));
  };
}

template <>
KernelFunction reference_kernel<OpId::CenterCropPad>() {
  return [](KernelContext& c) -> Status {
    const TensorView &in = c.in(0), &out = c.out(0);
    if (out.size() == 0) return {};
    std::vector<AxisMap> maps;
    for (size_t axis = 0; axis < out.dims.size(); ++axis) {
      const int64_t from = in.dims[axis], to = out.dims[axis];
      // An odd difference leaves the extra element at the end, both when cropping and when padding.
      const int64_t start = from > to ? (from - to) / 2 : -((to - from) / 2);
      maps.push_back(axis_map(to, [&](int64_t i) {
        const int64_t x = start + i;
        return x < 0 || x >= from ? kFill : x;
      }));
    }
    const ZeroElement zero;
    return copy_mapped(in, out, maps, zero.of(out.dtype));
  };
}

}  // namespace tenon
