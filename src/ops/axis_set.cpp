#include "ops/axis_set.h"

#include <algorithm>

#include "ops/infer.h"

namespace tenon {

Result<std::vector<int64_t>> axis_set(std::span<const int64_t> axes, int64_t rank) {
  std::vector<int64_t> result;
  for (int64_t axis : axes) {
    TN_ASSIGN_OR_RETURN(const int64_t from_front, normalize_axis(axis, rank, "axes"));
    result.push_back(from_front);
  }
  std::ranges::sort(result);
  result.erase(std::ranges::unique(result).begin(), result.end());
  return result;
}

}  // namespace tenon
