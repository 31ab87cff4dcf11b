#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::Relu>() {
  return [](KernelContext& c) -> Status {
    return dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t>(c.out(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      auto in = c.in(0).as<T>();
      auto out = c.out(0).as<T>();
      for (size_t i = 0; i < in.size(); ++i) out[i] = widen(in[i]) < 0 ? T() : in[i];  // NaN stays NaN
      return Status();
    });
  };
}

}  // namespace tenon
