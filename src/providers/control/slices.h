#pragma once

#include <vector>

#include "tensor/value.h"

// Cutting tensors along an axis for the iterations of a body, and putting the results together again.
namespace tenon {

// A tensor that slices are taken from. Packed elements are unpacked once.
class SliceSource {
 public:
  // The view must stay valid as long as the source; axis is in [0, rank).
  static Result<SliceSource> make(const TensorView& view, int64_t axis, const std::shared_ptr<MemoryBudget>& budget);
  int64_t count() const { return view_.dims[static_cast<size_t>(axis_)]; }
  Dims dims() const { return view_.dims; }
  // The tensor without the axis, at this index; index is in [0, count).
  Result<Tensor> slice(int64_t index) const;

 private:
  TensorView view_;  // one element per byte or more
  int64_t axis_ = 0;
  std::shared_ptr<Buffer> unpacked_;
  std::shared_ptr<MemoryBudget> budget_;
};

// Tensors of one type and shape on their way into a tensor with one more axis.
class Stack {
 public:
  Status add(Value part);
  // At a place of its own; places that get nothing become zeros.
  Status add_at(int64_t place, Value part);
  // The parts along a new axis of this extent. `expected` tells type and shape when there is no part.
  Result<Tensor> finish(int64_t count, int64_t axis, const Type& expected, const std::shared_ptr<MemoryBudget>& budget);
  int64_t size() const { return static_cast<int64_t>(parts_.size()); }

 private:
  struct Part {
    int64_t place;
    Tensor tensor;
  };
  std::vector<Part> parts_;
};

}  // namespace tenon
