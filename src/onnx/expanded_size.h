#pragma once

#include "onnx/graph_importer.h"

namespace tenon {

// An error when replacing every function call by the function's body would make more nodes than the limit. Functions
// that call functions multiply, so this is counted before it is done. A recursive call counts once; import names it.
// Without option max_nodes the limit grows with the file: a kilobyte must not become millions of nodes.
Status check_expanded_size(const wire::Graph& graph, const ModelImport& model);

}  // namespace tenon
