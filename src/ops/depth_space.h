#pragma once

#include "ops/op.h"

namespace tenon {

// DepthToSpace and SpaceToDepth.
struct DepthSpaceParams {
  int64_t blocksize = 0;
  std::string mode = "DCR";  // DCR: block offsets are the outer part of depth; CRD: the inner part
  void fields(FieldVisitor& v) {
    v.field("blocksize", blocksize);
    v.field("mode", mode);
  }
};

}  // namespace tenon
