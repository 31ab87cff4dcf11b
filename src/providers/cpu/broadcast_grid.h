#pragma once

#include <array>
#include <span>

#include "tensor/tensor.h"

namespace tenon {

inline constexpr size_t kMostGridAxes = 16, kMostGridOperands = 32;

// The elements of a broadcast result as rows: axes along which every operand goes on as it began are one axis. An
// operand moves by 0 or 1 along a row. Made without allocating, for up to kMostGridAxes axes and kMostGridOperands
// operands.
struct BroadcastGrid {
  using Axes = std::array<int64_t, kMostGridAxes>;

  size_t axes = 0;                              // that remain
  Axes extents{};                               // innermost first: the first one is the row
  std::array<Axes, kMostGridOperands> strides;  // by operand, along each of them
  int64_t rows = 1, row = 1;

  BroadcastGrid(Dims result, std::span<const Dims> operands);

  // The operand has exactly the elements of the result, in their order.
  bool is_dense(size_t operand) const;
  // The operand is one element.
  bool is_number(size_t operand) const;
  bool repeats_in_row(size_t operand) const { return strides[operand][0] == 0; }

 private:
  void add_axis(int64_t extent, const std::array<int64_t, kMostGridOperands>& steps, size_t operands);
};

// Goes through the rows of a grid for one operand.
class RowCursor {
 public:
  RowCursor(const BroadcastGrid& grid, size_t operand, int64_t first_row);
  int64_t offset() const { return offset_; }
  void next();

 private:
  const BroadcastGrid& grid_;
  const BroadcastGrid::Axes& strides_;
  BroadcastGrid::Axes index_{};
  int64_t offset_ = 0;
};

}  // namespace tenon
