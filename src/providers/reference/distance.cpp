#include "ops/distance.h"

#include <cmath>

#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::CDist>() {
  return [](KernelContext& c) -> Status {
    const bool squared = c.params<CDistParams>().metric == "sqeuclidean";
    const int64_t rows = c.in(0).dims[0], columns = c.in(1).dims[0], width = c.in(0).dims[1];
    return dispatch<float, double>(c.out(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* a = static_cast<const T*>(c.in(0).data);
      const T* b = static_cast<const T*>(c.in(1).data);
      T* out = static_cast<T*>(c.out(0).data);
      WorkMeter meter;
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          meter.spend(width + 1);
          double sum = 0;
          for (int64_t k = 0; k < width; ++k) {
            const double difference = widen(a[i * width + k]) - widen(b[j * width + k]);
            sum += difference * difference;
          }
          out[i * columns + j] = narrow<T>(squared ? sum : std::sqrt(sum));
        }
      return Status();
    });
  };
}

}  // namespace tenon
