#include "providers/cpu/broadcast_grid.h"

namespace tenon {

BroadcastGrid::BroadcastGrid(Dims result, std::span<const Dims> operands) {
  std::array<int64_t, kMostGridOperands> own{}, steps{};  // between neighbours: in the operand, and in the result
  for (size_t n = 0; n < operands.size(); ++n) own[n] = 1;
  for (size_t i = 0; i < result.size(); ++i) {
    for (size_t n = 0; n < operands.size(); ++n) {
      const Dims operand = operands[n];
      const int64_t extent = i < operand.size() ? operand[operand.size() - 1 - i] : 1;
      steps[n] = extent == 1 ? 0 : own[n];
      own[n] *= extent;
    }
    const int64_t extent = result[result.size() - 1 - i];
    if (extent != 1) add_axis(extent, steps, operands.size());
  }
  if (axes == 0) add_axis(1, {}, operands.size());
  row = extents[0];
  for (size_t axis = 1; axis < axes; ++axis) rows *= extents[axis];
}

void BroadcastGrid::add_axis(int64_t extent, const std::array<int64_t, kMostGridOperands>& steps, size_t operands) {
  bool goes_on = axes > 0;
  for (size_t n = 0; n < operands && goes_on; ++n) goes_on = steps[n] == strides[n][axes - 1] * extents[axes - 1];
  if (goes_on) {
    extents[axes - 1] *= extent;
    return;
  }
  extents[axes] = extent;
  for (size_t n = 0; n < operands; ++n) strides[n][axes] = steps[n];
  ++axes;
}

bool BroadcastGrid::is_dense(size_t operand) const {
  int64_t step = 1;
  for (size_t axis = 0; axis < axes; step *= extents[axis++])
    if (extents[axis] != 1 && strides[operand][axis] != step) return false;
  return true;
}

bool BroadcastGrid::is_number(size_t operand) const {
  for (size_t axis = 0; axis < axes; ++axis)
    if (strides[operand][axis] != 0) return false;
  return true;
}

RowCursor::RowCursor(const BroadcastGrid& grid, size_t operand, int64_t first_row)
    : grid_(grid), strides_(grid.strides[operand]) {
  for (size_t axis = 1; axis < grid.axes; first_row /= grid.extents[axis++]) {
    index_[axis] = first_row % grid.extents[axis];
    offset_ += index_[axis] * strides_[axis];
  }
}

void RowCursor::next() {
  for (size_t axis = 1; axis < grid_.axes; ++axis) {
    offset_ += strides_[axis];
    if (++index_[axis] < grid_.extents[axis]) return;
    offset_ -= strides_[axis] * grid_.extents[axis];
    index_[axis] = 0;
  }
}

}  // namespace tenon
