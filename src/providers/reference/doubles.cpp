#include "providers/reference/doubles.h"

#include <algorithm>

#include "providers/reference/elements.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

template <class T>
T clamp_element(double x) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(x)) return 0;
    if (x <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (x >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(x);
  } else {
    return narrow<T>(x);
  }
}

}  // namespace

Result<Doubles> Doubles::of(const TensorView& view, const std::shared_ptr<MemoryBudget>& budget) {
  if (view.dtype == DType::Float64) return Doubles(Tensor::borrow(DType::Float64, {view.size()}, view.data, nullptr));
  return copy_of(view, budget);
}

Result<Doubles> Doubles::copy_of(const TensorView& view, const std::shared_ptr<MemoryBudget>& budget) {
  TN_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(DType::Float64, {view.size()}, budget));
  TN_RETURN_IF_ERROR(dispatch_numbers(view.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(view.data);
    auto* to = static_cast<double*>(copy.mutable_data());
    in_pieces(view.size(), [&](int64_t begin, int64_t end) {
      std::transform(from + begin, from + end, to + begin, [](T x) { return static_cast<double>(x); });
    });
    return Status();
  }));
  return Doubles(std::move(copy));
}

Result<Doubles> Doubles::filled(int64_t count, double value, const std::shared_ptr<MemoryBudget>& budget) {
  return filled(std::vector<int64_t>{count}, value, budget);
}

Result<Doubles> Doubles::filled(std::vector<int64_t> dims, double value, const std::shared_ptr<MemoryBudget>& budget) {
  TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(DType::Float64, std::move(dims), budget));
  double* to = tensor.as_mutable<double>().data();
  in_pieces(tensor.size(), [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, value); });
  return Doubles(std::move(tensor));
}

void Doubles::store(const TensorView& to) const { store_doubles(data(), to); }

Result<Doubles> read_doubles(KernelContext& c, size_t i) {
  if (!c.has(i)) return Doubles();
  return Doubles::of(c.in(i), c.budget());
}

void store_doubles(const double* from, const TensorView& to) {
  (void)dispatch_numbers(to.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* target = static_cast<T*>(to.data);
    in_pieces(to.size(), [&](int64_t begin, int64_t end) {
      std::transform(from + begin, from + end, target + begin, clamp_element<T>);
    });
    return Status();
  });
}

double round_to(DType dtype, double x) {
  switch (dtype) {
    case DType::Float16:
      return static_cast<double>(Float16(x));
    case DType::BFloat16:
      return static_cast<double>(BFloat16(x));
    case DType::Float32:
      return static_cast<float>(x);
    default:
      return x;
  }
}

}  // namespace tenon
