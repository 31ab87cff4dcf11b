#include "ops/unsupported.h"

#include "providers/reference/kernel.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::Unsupported>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<UnsupportedParams>();
    return unsupported("op {} of domain '{}' version {} is not known", p.op_type, p.domain, p.version);
  };
}

}  // namespace tenon
