#include "providers/reference/kernel.h"

namespace tenon {

// Binding has looked at the shapes; nothing is left to do.
template <>
KernelFunction reference_kernel<OpId::RequireShapes>() {
  return [](KernelContext&) -> Status { return {}; };
}

}  // namespace tenon
