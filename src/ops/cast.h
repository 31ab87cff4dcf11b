#pragma once

#include "ops/op.h"

namespace tenon {

// How numbers become another type; shared by Cast and CastLike.
struct CastLikeParams {
  bool saturate = true;           // float8 only: too large becomes the largest, not NaN or infinity
  std::string round_mode = "up";  // float8e8m0 only: up, down or nearest
  void fields(FieldVisitor& v) {
    v.field("saturate", saturate);
    v.field("round_mode", round_mode);
  }
};

struct CastParams : CastLikeParams {
  DType to = DType::Undefined;
  void fields(FieldVisitor& v) {
    v.field("to", to);
    CastLikeParams::fields(v);
  }
};

struct BitCastParams {
  DType to = DType::Undefined;
  // A byte becomes the several elements it is packed from (lowest bits first), side by side along the last axis.
  bool split = false;
  void fields(FieldVisitor& v) {
    v.field("to", to);
    v.field("split", split);
  }
};

}  // namespace tenon
