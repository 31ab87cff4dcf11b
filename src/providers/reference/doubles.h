#pragma once

#include "providers/provider.h"

namespace tenon {

// Elements of a real tensor as doubles, so that a kernel for all float types is written once. Exact for every float
// and for integers up to 32 bits.
class Doubles {
 public:
  Doubles() = default;
  // The elements of a view; doubles are lent, other types converted.
  static Result<Doubles> of(const TensorView& view, const std::shared_ptr<MemoryBudget>& budget);
  // The same in memory of its own, which may be written to.
  static Result<Doubles> copy_of(const TensorView& view, const std::shared_ptr<MemoryBudget>& budget);
  static Result<Doubles> filled(int64_t count, double value, const std::shared_ptr<MemoryBudget>& budget);
  // As many as a tensor of these dims has; an error when that is more than memory holds.
  static Result<Doubles> filled(std::vector<int64_t> dims, double value, const std::shared_ptr<MemoryBudget>& budget);

  double* data() { return static_cast<double*>(tensor_.mutable_data()); }
  const double* data() const { return static_cast<const double*>(tensor_.data()); }
  size_t size() const { return tensor_.defined() ? static_cast<size_t>(tensor_.size()) : 0; }
  // False for an absent optional input.
  bool present() const { return tensor_.defined(); }
  double& operator[](int64_t i) { return data()[i]; }
  double operator[](int64_t i) const { return data()[i]; }
  double* begin() { return data(); }
  double* end() { return data() + size(); }

  // Rounds into a tensor of the same size.
  void store(const TensorView& to) const;

 private:
  explicit Doubles(Tensor tensor) : tensor_(std::move(tensor)) {}
  Tensor tensor_;
};

// Input i of a kernel, not present when the input is absent.
Result<Doubles> read_doubles(KernelContext& c, size_t i);

// Rounds each double to the element type; integers saturate and take NaN as 0.
void store_doubles(const double* from, const TensorView& to);
// x rounded to a float type, as a double.
double round_to(DType dtype, double x);

}  // namespace tenon
