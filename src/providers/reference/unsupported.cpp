#include "ops/unsupported.h"

#include "providers/reference/kernel.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::Unsupported>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<UnsupportedParams>();
    return unsupported("unknown op '{}' (domain '{}', version {})", p.op_type, p.domain, p.version);
  };
}

}  // namespace tenon
