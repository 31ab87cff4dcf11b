#pragma once

#include "ops/op.h"

namespace tenon {

struct MurmurHash3Params {
  int64_t seed = 0;
  bool positive = true;  // the hash is uint32; false: int32
  void fields(FieldVisitor& v) {
    v.field("seed", seed);
    v.field("positive", positive);
  }
};

}  // namespace tenon
