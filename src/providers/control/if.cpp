#include "providers/reference/kernel.h"

namespace tenon {

template <>
KernelFunction reference_kernel<OpId::If>() {
  return [](KernelContext& c) -> Status {
    if (c.boxed(0) || c.in(0).dtype != DType::Bool || c.in(0).size() != 1)
      return invalid_argument("the condition must be a single boolean");
    const bool condition = *static_cast<const bool*>(c.in(0).data);
    TN_ASSIGN_OR_RETURN(auto results, c.services().run_body(condition ? 0 : 1, {}));
    if (results.size() < c.output_count())
      return invalid_model("a branch returns {} values, but {} are needed", results.size(), c.output_count());
    for (size_t i = 0; i < results.size(); ++i) c.set(i, std::move(results[i]));
    return {};
  };
}

}  // namespace tenon
