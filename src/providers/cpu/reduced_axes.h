#pragma once

#include <array>

#include "ops/reduction.h"
#include "providers/provider.h"

namespace tenon {

inline constexpr size_t kMostReducedAxes = 16;

struct ReducedAxis {
  int64_t extent = 1, stride = 1;
  bool goes = false;
};

// Axes, outermost last; a run allocates nothing.
struct AxisStack {
  std::array<ReducedAxis, kMostReducedAxes> axes;
  size_t count = 0;
  void push(const ReducedAxis& axis) { axes[count++] = axis; }
};

// The axes of the input, where neighbours that go together are one.
struct ReducedAxes {
  ReducedAxis last;  // the innermost
  AxisStack kept, gone;
  int64_t results = 1, taken = 1;

  explicit ReducedAxes(KernelContext& c) {
    const Dims dims = c.in(0).dims;
    std::array<bool, kMostReducedAxes> goes{};
    const auto given = c.has(1) ? c.in(1).as<const int64_t>() : std::span<const int64_t>();
    if (given.empty()) goes.fill(!c.params<ReductionParams>().noop_with_empty_axes);
    for (const int64_t axis : given) goes[static_cast<size_t>(axis < 0 ? axis + c.in(0).rank() : axis)] = true;
    AxisStack merged;
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) {
      (goes[i] ? taken : results) *= dims[i];
      if (dims[i] == 1) continue;
      if (merged.count > 0 && merged.axes[merged.count - 1].goes == goes[i])
        merged.axes[merged.count - 1].extent *= dims[i];
      else
        merged.push({dims[i], stride, goes[i]});
    }
    if (merged.count > 0) last = merged.axes[0];
    for (size_t i = 1; i < merged.count; ++i) {
      if (merged.axes[i].goes)
        gone.push(merged.axes[i]);
      else
        kept.push(merged.axes[i]);
    }
  }
};

// Goes through all positions of some axes.
class ReducedWalk {
 public:
  explicit ReducedWalk(const AxisStack& stack, int64_t position = 0) : stack_(stack) {
    for (size_t i = 0; i < stack.count; position /= stack.axes[i++].extent) {
      index_[i] = position % stack.axes[i].extent;
      offset_ += index_[i] * stack.axes[i].stride;
    }
  }
  int64_t offset() const { return offset_; }
  // False after the last.
  bool next() {
    for (size_t i = 0; i < stack_.count; ++i) {
      const ReducedAxis& axis = stack_.axes[i];
      offset_ += axis.stride;
      if (++index_[i] < axis.extent) return true;
      offset_ -= axis.stride * axis.extent;
      index_[i] = 0;
    }
    return false;
  }

 private:
  const AxisStack& stack_;
  std::array<int64_t, kMostReducedAxes> index_{};
  int64_t offset_ = 0;
};

}  // namespace tenon
