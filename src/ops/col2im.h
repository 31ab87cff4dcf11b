#pragma once

#include "ops/op.h"

namespace tenon {

struct Col2ImParams {
  std::vector<int64_t> dilations, pads, strides;  // empty: 1, 0, 1
  void fields(FieldVisitor& v) {
    v.field("dilations", dilations);
    v.field("pads", pads);
    v.field("strides", strides);
  }
  int64_t dilation(size_t axis) const { return dilations.empty() ? 1 : dilations[axis]; }
  int64_t stride(size_t axis) const { return strides.empty() ? 1 : strides[axis]; }
  int64_t pad_begin(size_t axis) const { return pads.empty() ? 0 : pads[axis]; }
  int64_t pad_end(size_t axis, size_t axes) const { return pads.empty() ? 0 : pads[axes + axis]; }
};

}  // namespace tenon
