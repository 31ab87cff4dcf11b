#pragma once

#include "ops/window.h"

namespace tenon {

struct AveragePoolParams {
  WindowParams window;
  bool ceil_mode = false;
  bool count_include_pad = false;
  void fields(FieldVisitor& v) {
    window.fields(v);
    v.field("ceil_mode", ceil_mode);
    v.field("count_include_pad", count_include_pad);
  }
};

struct MaxPoolParams {
  WindowParams window;
  bool ceil_mode = false;
  int64_t storage_order = 0;  // of Indices: 0 row-major, 1 column-major over the spatial axes
  void fields(FieldVisitor& v) {
    window.fields(v);
    v.field("ceil_mode", ceil_mode);
    v.field("storage_order", storage_order);
  }
};

struct LpPoolParams {
  WindowParams window;
  bool ceil_mode = false;
  float p = 2.0f;
  void fields(FieldVisitor& v) {
    window.fields(v);
    v.field("ceil_mode", ceil_mode);
    v.field("p", p);
  }
};

struct GlobalLpPoolParams {
  float p = 2.0f;
  void fields(FieldVisitor& v) { v.field("p", p); }
};

struct MaxUnpoolParams {
  std::vector<int64_t> kernel_shape, strides, pads;
  void fields(FieldVisitor& v) {
    v.field("kernel_shape", kernel_shape);
    v.field("strides", strides);
    v.field("pads", pads);
  }
};

// The shape of the tensor that a MaxUnpool input was pooled from, as far as its attributes tell.
Result<Shape> unpooled_shape(const MaxUnpoolParams& params, const Shape& pooled);

}  // namespace tenon
