#include "ops/pad.h"

#include <algorithm>

#include "base/checked_math.h"
#include "providers/reference/integers.h"
#include "providers/reference/kernel.h"
#include "providers/reference/movement.h"

namespace tenon {

namespace {

// The data that is left after negative pads have cropped it.
struct KeptRange {
  int64_t first, count;
};

enum class PadMode : uint8_t { Constant, Edge, Wrap, Reflect };

PadMode pad_mode(std::string_view name) {
  if (name == "constant") return PadMode::Constant;
  if (name == "edge") return PadMode::Edge;
  return name == "wrap" ? PadMode::Wrap : PadMode::Reflect;
}

int64_t source_index(PadMode mode, int64_t at, const KeptRange& kept) {
  if (at >= 0 && at < kept.count) return kept.first + at;
  if (mode == PadMode::Constant) return kFill;
  if (mode == PadMode::Edge) return kept.first + std::clamp<int64_t>(at, 0, kept.count - 1);
  if (mode == PadMode::Wrap) return kept.first + floor_mod(at, kept.count);
  // reflect: forth and back without repeating the ends
  if (kept.count == 1) return kept.first;
  const int64_t turn = floor_mod(at, 2 * (kept.count - 1));
  return kept.first + std::min(turn, 2 * (kept.count - 1) - turn);
}

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
    const PadMode mode = pad_mode(c.params<PadParams>().mode);
    const Scratch<int64_t> pads = integers_of(c.in(1));
    const size_t half = pads.size() / 2;
    std::vector<AxisMap> maps;
    for (int64_t extent : out.dims) maps.push_back(axis_range(extent));
    for (size_t i = 0; i < half; ++i) {
      int64_t axis = c.has(3) ? integer_at(c.in(3), static_cast<int64_t>(i)) : static_cast<int64_t>(i);
      axis += axis < 0 ? in.rank() : 0;
      const int64_t begin = pads[i], cut_begin = std::min<int64_t>(begin, 0),
                    cut_end = std::min<int64_t>(pads[half + i], 0);
      const KeptRange kept{-cut_begin, in.dims[static_cast<size_t>(axis)] + cut_begin + cut_end};
      const int64_t shift = std::max<int64_t>(begin, 0);
      AxisMap& map = maps[static_cast<size_t>(axis)];
      for_each_index(static_cast<int64_t>(map.size()), [&](int64_t at) {
        int64_t& from = map[static_cast<size_t>(at)];
        from = source_index(mode, from - shift, kept);
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
