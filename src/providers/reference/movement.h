#pragma once

#include <vector>

#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

// Mechanisms that ops which only move elements share.
namespace tenon {

// Where each output index along one axis comes from: an input index, or kFill.
using AxisMap = Scratch<int64_t>;
inline constexpr int64_t kFill = -1;

// f(0), f(1), ...
template <class F>
AxisMap axis_map(int64_t count, const F& f) {
  AxisMap map;
  map.reserve(static_cast<size_t>(count));
  for_each_index(count, [&](int64_t i) { map.push_back(f(i)); });
  return map;
}
// start, start + step, ...
AxisMap axis_range(int64_t count, int64_t start = 0, int64_t step = 1);

// out[i, j, ...] = in[maps[0][i], maps[1][j], ...], or the one element of `fill` where a map says so.
// The ranks of in and out agree; `fill` is needed only when some map has a kFill.
Status copy_mapped(const TensorView& in, const TensorView& out, const std::vector<AxisMap>& maps,
                   const void* fill = nullptr);

// out[index] = in[sum(index[a] * strides[a])] for every index of out.
Status copy_strided(const TensorView& in, const TensorView& out, std::vector<int64_t> strides);

// out = in with its axes in the order `perm`; out's dims are taken as they follow from that.
Status copy_transposed(const TensorView& in, const TensorView& out, const std::vector<int64_t>& perm);

}  // namespace tenon
