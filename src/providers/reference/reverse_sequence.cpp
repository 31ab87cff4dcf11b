#include "ops/reverse_sequence.h"

#include <algorithm>

#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::ReverseSequence>() {
  return [](KernelContext& c) -> Status {
    const TensorView& in = c.in(0);
    const bool batch_first = c.params<ReverseSequenceParams>().batch_axis == 0;
    const int64_t batches = in.dims[batch_first ? 0 : 1], steps = in.dims[batch_first ? 1 : 0];
    const auto lengths = c.in(1).as<int64_t>();
    for (size_t i = 0; i < lengths.size(); ++i)
      if (lengths[i] < 0 || lengths[i] > steps)
        return invalid_argument("the length {} at position {} is outside 0..{}", lengths[i], i, steps);
    if (in.size() == 0) return {};
    const int64_t inner = in.size() / (batches * steps);
    return dispatch_by_size(in.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* source = static_cast<const T*>(in.data);
      T* target = static_cast<T*>(c.out(0).data);
      auto row = [&](int64_t batch, int64_t step) {
        return (batch_first ? batch * steps + step : step * batches + batch) * inner;
      };
      WorkMeter meter;
      for (int64_t b = 0; b < batches; ++b) {
        const int64_t length = lengths[static_cast<size_t>(b)];
        for (int64_t t = 0; t < steps; ++t) {
          meter.spend(inner);
          std::copy_n(source + row(b, t < length ? length - 1 - t : t), inner, target + row(b, t));
        }
      }
      return Status();
    });
  };
}

}  // namespace tenon
