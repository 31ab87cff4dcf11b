#include "ops/rounding.h"

#include <algorithm>

#include "tensor/type.h"

namespace tenon {

double count_input_elements(std::span<const Type* const> inputs) {
  if (inputs.empty() || !inputs[0] || !inputs[0]->shape) return kManyTerms;
  const Dim all = element_count(*inputs[0]->shape);
  return all.is_constant() && all.value() > 0 ? std::min(static_cast<double>(all.value()), kManyTerms) : kManyTerms;
}

}  // namespace tenon
