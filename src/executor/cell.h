#pragma once

#include "tensor/value.h"

namespace tenon {

// A value during a run: a dense view, or something boxed (then `view` mirrors it if it is a tensor).
struct Cell {
  TensorView view;
  Value boxed;                  // made by this run
  const Value* lent = nullptr;  // of somebody who keeps it while the run lasts
  // The boxed or lent value; null for a view of memory that the run or the weights own.
  const Value* value() const { return lent ? lent : boxed.empty() ? nullptr : &boxed; }
  bool ready() const { return view.dtype != DType::Undefined || value(); }
};

}  // namespace tenon
