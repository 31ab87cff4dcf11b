#pragma once

#include "ops/op.h"

namespace tenon {

// An op of the file that Tenon does not know. It can be looked at, not run.
struct UnsupportedParams {
  std::string op_type, domain;
  int64_t version = 0;
  void fields(FieldVisitor& v) {
    v.field("op_type", op_type);
    v.field("domain", domain);
    v.field("version", version);
  }
};

}  // namespace tenon
