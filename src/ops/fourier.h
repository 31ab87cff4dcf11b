#pragma once

#include "ops/op.h"

namespace tenon {

struct DFTParams {
  bool inverse = false, onesided = false;
  void fields(FieldVisitor& v) {
    v.field("inverse", inverse);
    v.field("onesided", onesided);
  }
};

struct STFTParams {
  bool onesided = true;
  void fields(FieldVisitor& v) { v.field("onesided", onesided); }
};

}  // namespace tenon
