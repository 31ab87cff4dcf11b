#include "ops/diagonal.h"

#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::Trilu>() {
  return [](KernelContext& c) -> Status {
    const TensorView& in = c.in(0);
    if (in.size() == 0) return {};
    const int64_t columns = in.dims.back(), rows = in.dims[in.dims.size() - 2];
    const int64_t k = c.has(1) ? c.in(1).as<int64_t>()[0] : 0;
    const bool upper = c.params<TriluParams>().upper;
    return dispatch_by_size(in.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      auto source = raw<T>(in), target = raw<T>(c.out(0));
      for_each_index(in.size(), [&](int64_t i) {
        const int64_t column = i % columns, row = i / columns % rows;
        const bool keep = upper ? column - row >= k : column - row <= k;
        target[static_cast<size_t>(i)] = keep ? source[static_cast<size_t>(i)] : T();
      });
      return Status();
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::EyeLike>() {
  return [](KernelContext& c) -> Status {
    const TensorView& out = c.out(0);
    const int64_t rows = out.dims[0], columns = out.dims[1], k = c.params<EyeLikeParams>().k;
    return dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                    uint64_t, bool>(out.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* target = static_cast<T*>(out.data);
      for (int64_t i = 0; out.size() > 0 && i < rows; ++i)
        for_each_index(columns, [&](int64_t j) { target[i * columns + j] = T(j - i == k ? 1 : 0); });
      return Status();
    });
  };
}

}  // namespace tenon
