#pragma once

#include "onnx/node_maker.h"
#include "onnx/onnx_map.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/pattern.h"

// What rules share that write several nodes as one ONNX node.
namespace tenon {

// Replaces a match by one ONNX node. results: the values that become its results, by output; kNone: none does.
Attempt write_as(NodeMaker& onnx, const Match& m, Graph& graph, std::string_view rule, OnnxNode node,
                 const std::vector<ValueId>& results);

// A rule that needs what makes ONNX nodes; with null it never fires.
inline Rule writing_rule(std::string_view name, std::vector<OpId> roots, NodeMaker* onnx,
                         Attempt (*find)(NodeMaker&, Graph&, NodeId)) {
  return {name, std::move(roots),
          [=](Graph& graph, NodeId root) { return onnx ? find(*onnx, graph, root) : Attempt::none(); }};
}

}  // namespace tenon
