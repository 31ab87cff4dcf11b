#pragma once

#include "ir/rewrite.h"

// The rules of the normal form, each in its own file. docs/normal_form.md says what each establishes and why.
namespace tenon {

Rule fold_constants();
// for_onnx: the graph will be written as ONNX, with the nodes and calls that stay.
Rule inline_constant_if(bool for_onnx);
Rule merge_equal_nodes();
Rule merge_equal_shapes();
Rule remove_dropout();
Rule remove_identity();
Rule remove_same_cast();
Rule remove_same_order();
Rule remove_same_shape();
Rule remove_same_slice();
Rule remove_zero_pad();

// Nodes that no output depends on go, those of bodies too.
void remove_unused_nodes(Graph& graph, ChangeLog& log);

}  // namespace tenon
