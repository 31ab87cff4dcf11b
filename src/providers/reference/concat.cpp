#include "ops/concat.h"

#include <algorithm>

#include "ops/split.h"
#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/movement.h"
#include "providers/reference/text_meter.h"
#include "providers/reference/work_meter.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::Concat>() {
  return [](KernelContext& c) -> Status {
    const TensorView& out = c.out(0);
    if (out.size() == 0) return {};
    const int64_t axis = c.params<ConcatParams>().axis;
    const AxisSplit whole(out.dims, axis < 0 ? axis + out.rank() : axis);
    return dispatch_by_size(out.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* target = static_cast<T*>(out.data);
      int64_t at = 0;
      TextMeter meter;
      for (size_t i = 0; i < c.input_count(); ++i) {
        const T* source = static_cast<const T*>(c.in(i).data);
        const int64_t run = AxisSplit(c.in(i).dims, axis < 0 ? axis + out.rank() : axis).extent * whole.inner;
        WorkMeter work;
        for (int64_t o = 0; o < whole.outer; ++o) {
          work.spend();
          in_pieces(run, [&](int64_t begin, int64_t end) {
            meter.copy_n(source + o * run + begin, end - begin, target + o * whole.extent * whole.inner + at + begin);
          });
        }
        at += run;
      }
      return Status();
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::Split>() {
  return [](KernelContext& c) -> Status {
    const TensorView& in = c.in(0);
    const int64_t axis = c.params<SplitParams>().axis;
    const size_t at = static_cast<size_t>(axis < 0 ? axis + in.rank() : axis);
    // A part that nobody wants still takes its place; its size is in the input or follows from equal parts.
    const int64_t count = static_cast<int64_t>(c.output_count());
    const int64_t equal = (in.dims[at] + count - 1) / count;
    int64_t start = 0;
    for (size_t i = 0; i < c.output_count(); ++i) {
      const int64_t extent = c.has(1) ? c.in(1).as<int64_t>()[i] : std::min(equal, in.dims[at] - start);
      if (c.wants(i) && c.out(i).size() > 0) {
        std::vector<AxisMap> maps;
        for (size_t a = 0; a < in.dims.size(); ++a) maps.push_back(axis_range(c.out(i).dims[a], a == at ? start : 0));
        TN_RETURN_IF_ERROR(copy_mapped(in, c.out(i), maps));
      }
      start += extent;
    }
    return {};
  };
}

}  // namespace tenon
