#pragma once

#include "ir/rewrite.h"

namespace tenon {

// The patch of a rule for nodes whose result is one of their inputs.
inline Attempt forward_to_input(Graph& graph, NodeId root, std::string_view rule, std::string reason,
                                size_t input = 0) {
  auto patch = std::make_unique<Patch>(graph, root, rule);
  patch->set_reason(std::move(reason));
  patch->forward(graph.node(root).outputs[0], graph.node(root).inputs[input]);
  return Attempt::of(std::move(patch));
}

// Whether both are tensors of one shape, whatever their symbols stand for.
inline bool has_same_shape(const Graph& graph, ValueId a, ValueId b) {
  const Type &x = graph.value(a).type, &y = graph.value(b).type;
  return x.is_tensor() && y.is_tensor() && x.shape && y.shape && *x.shape == *y.shape;
}

}  // namespace tenon
