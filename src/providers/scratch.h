#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "providers/provider.h"

// Memory that a kernel uses for itself. Every list whose length follows from the size of a tensor is a Scratch, so that
// the limit of memory holds for it as it does for tensors.
namespace tenon {

// Takes its memory from the budget of the kernel in whose scope it is made; a limit that is reached ends the kernel.
// Outside of kernels nothing is counted. What it allocates must be freed before the kernel returns.
template <class T>
class ScratchAllocator {
 public:
  using value_type = T;
  // Lists keep the budget they began with.
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  ScratchAllocator() : budget_(KernelScope::current() ? KernelScope::current()->budget().get() : nullptr) {}
  template <class U>
  ScratchAllocator(const ScratchAllocator<U>& other) : budget_(other.budget()) {}

  T* allocate(size_t count) {
    if (count > static_cast<size_t>(std::numeric_limits<int64_t>::max()) / sizeof(T)) throw std::bad_array_new_length();
    if (budget_)
      if (Status status = budget_->reserve(charge(count)); !status.ok()) throw KernelStop{std::move(status)};
    try {
      return std::allocator<T>().allocate(count);
    } catch (...) {
      if (budget_) budget_->release(charge(count));
      throw;
    }
  }
  void deallocate(T* data, size_t count) {
    std::allocator<T>().deallocate(data, count);
    if (budget_) budget_->release(charge(count));
  }

  MemoryBudget* budget() const { return budget_; }
  friend bool operator==(const ScratchAllocator& a, const ScratchAllocator& b) { return a.budget_ == b.budget_; }

 private:
  static int64_t charge(size_t count) { return static_cast<int64_t>(count * sizeof(T)); }
  MemoryBudget* budget_;
};

template <class T>
using Scratch = std::vector<T, ScratchAllocator<T>>;

}  // namespace tenon
