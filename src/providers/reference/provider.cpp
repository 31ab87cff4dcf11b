// The reference provider: one plain kernel for every op.
#include <unordered_map>

#include "providers/reference/kernel.h"

namespace tenon {

#define OP(name) \
  template <>    \
  KernelFunction reference_kernel<OpId::name>();
#include "ops/ops.def"
#undef OP

KernelFunction find_reference_kernel(std::string_view op_name) {
  static const auto kernels = [] {
    std::unordered_map<std::string_view, KernelFunction> map;
#define OP(id) map.emplace(op_def(OpId::id).name, reference_kernel<OpId::id>());
#include "ops/ops.def"
#undef OP
    return map;
  }();
  auto it = kernels.find(op_name);
  return it == kernels.end() ? nullptr : it->second;
}

}  // namespace tenon
