#include "providers/cpu/stored_dims.h"

#include <algorithm>

#include "base/checked_math.h"

namespace tenon {

namespace {

// The extent of an axis of a result with `rank` axes.
int64_t extent_of(Dims dims, size_t rank, size_t axis) {
  const size_t missing = rank - dims.size();
  return axis < missing ? 1 : dims[axis - missing];
}

}  // namespace

StoredDims::StoredDims(Dims dims) : axes_(dims.size()) { std::ranges::copy(dims, extents_.begin()); }

StoredDims StoredDims::in_blocks(Dims dims, bool is_blocked, size_t rank) {
  StoredDims stored;
  for (size_t axis = 0; axis < rank; ++axis) stored.extents_[axis] = extent_of(dims, rank, axis);
  const int64_t channels = stored.extents_[1];
  const bool each_channel = is_blocked || channels != 1;
  stored.extents_[1] = each_channel ? ceil_div(channels, kLanes) : 1;
  stored.extents_[rank] = each_channel ? kLanes : 1;
  stored.axes_ = rank + 1;
  if (each_channel && !is_blocked && channels % kLanes != 0)
    stored.padding_ = {stored.extents_[0], channels, stored.extents_[1] * kLanes};
  return stored;
}

bool fits_blocks(Dims dims, size_t rank) {
  if (dims.size() > rank) return false;
  if (extent_of(dims, rank, 1) == 1) return true;
  for (size_t axis = 2; axis < rank; ++axis)
    if (extent_of(dims, rank, axis) != 1) return false;
  return true;
}

}  // namespace tenon
