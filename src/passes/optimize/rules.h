#pragma once

#include "ir/rewrite.h"
#include "onnx/node_maker.h"

// The rules that are off by default, each in its own file. Those that write several nodes as one ONNX node are given
// what makes such nodes; with null they never fire.
namespace tenon {

Rule fuse_bias_gelu(NodeMaker* onnx);
Rule fuse_gelu();
Rule fuse_gelu_tanh();
Rule fuse_quick_gelu();

}  // namespace tenon
