#pragma once

#include "ops/op.h"

namespace tenon {

// Between every row of A and every row of B.
struct CDistParams {
  std::string metric = "sqeuclidean";
  void fields(FieldVisitor& v) { v.field("metric", metric); }
};

}  // namespace tenon
