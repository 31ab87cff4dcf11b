#pragma once

#include "ops/op.h"

namespace tenon {

struct ReductionParams {
  bool keepdims = true;
  bool noop_with_empty_axes = false;  // no axes: true keeps every element apart, false takes all together
  void fields(FieldVisitor& v) {
    v.field("keepdims", keepdims);
    v.field("noop_with_empty_axes", noop_with_empty_axes);
  }
  // Which axes go, for axes that may be absent or negative. All must be inside the rank.
  std::vector<bool> reduced(const std::vector<int64_t>& axes, int64_t rank) const {
    std::vector<bool> result(static_cast<size_t>(rank), axes.empty() && !noop_with_empty_axes);
    for (int64_t axis : axes) result[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
    return result;
  }
};

// ArgMax and ArgMin.
struct ArgReductionParams {
  int64_t axis = 0;
  bool keepdims = true;
  bool select_last_index = false;
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("keepdims", keepdims);
    v.field("select_last_index", select_last_index);
  }
};

// CumSum and CumProd.
struct CumulativeParams {
  bool exclusive = false, reverse = false;
  void fields(FieldVisitor& v) {
    v.field("exclusive", exclusive);
    v.field("reverse", reverse);
  }
};

struct TopKParams {
  int64_t axis = -1;
  bool largest = true;
  bool sorted = true;
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("largest", largest);
    v.field("sorted", sorted);
  }
};

}  // namespace tenon
