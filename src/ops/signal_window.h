#pragma once

#include "ops/op.h"

namespace tenon {

// HannWindow, HammingWindow and BlackmanWindow.
struct SignalWindowParams {
  DType output_datatype = DType::Float32;
  bool periodic = true;  // the first points of a window that is one longer
  void fields(FieldVisitor& v) {
    v.field("output_datatype", output_datatype);
    v.field("periodic", periodic);
  }
};

struct MelWeightMatrixParams {
  DType output_datatype = DType::Float32;
  void fields(FieldVisitor& v) { v.field("output_datatype", output_datatype); }
};

}  // namespace tenon
