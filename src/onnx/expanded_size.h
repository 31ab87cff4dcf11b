#pragma once

#include "onnx/graph_importer.h"

namespace tenon {

// An error when replacing every function call by the function's body would make more nodes than the limit. Functions
// that call functions multiply, so this is counted before it is done. A recursive call counts once; import names it.
Status check_expanded_size(const wire::Graph& graph, const ModelImport& model, int64_t limit);

}  // namespace tenon
