#include "providers/reference/interpolation.h"

namespace tenon {

Result<Tensor> to_doubles(const TensorView& view, const std::shared_ptr<MemoryBudget>& budget) {
  TN_ASSIGN_OR_RETURN(Tensor doubles, Tensor::allocate(DType::Float64, {view.dims.begin(), view.dims.end()}, budget));
  TN_RETURN_IF_ERROR(dispatch_numbers(view.dtype, [&](auto tag) {
    auto source = view.as<typename decltype(tag)::type>();
    auto target = doubles.as_mutable<double>();
    for (size_t i = 0; i < source.size(); ++i) target[i] = static_cast<double>(widen(source[i]));
    return Status();
  }));
  return doubles;
}

}  // namespace tenon
