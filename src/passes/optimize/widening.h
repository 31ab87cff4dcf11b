#pragma once

#include "ir/readers.h"

namespace tenon {

// What a node of float32 starts from: a value of that type, or, where the result is cast back to a narrower type, what
// was cast from it. kNone: it is computed in another type, which would change more than rounding.
inline ValueId before_widening(const Graph& graph, ValueId wide, ValueId result, bool is_narrowed) {
  if (graph.value(wide).type.dtype != DType::Float32) return kNone;
  if (!is_narrowed) return wide;
  const GraphNode* widening = maker(graph, wide, OpId::Cast);
  if (!widening) return kNone;
  const ValueId before = widening->inputs[0];
  return graph.value(before).type.dtype == graph.value(result).type.dtype ? before : ValueId(kNone);
}

}  // namespace tenon
