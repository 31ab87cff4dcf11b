#include "ops/rounding.h"

#include <algorithm>

namespace tenon {

const Shape* known_shape(std::span<const Type* const> inputs, size_t input) {
  return input < inputs.size() && inputs[input] && inputs[input]->shape ? &*inputs[input]->shape : nullptr;
}

double count_input_elements(std::span<const Type* const> inputs) {
  const Shape* shape = known_shape(inputs, 0);
  const Dim all = shape ? element_count(*shape) : Dim(0);
  return all.is_constant() && all.value() > 0 ? std::min(static_cast<double>(all.value()), kManyTerms) : kManyTerms;
}

}  // namespace tenon
