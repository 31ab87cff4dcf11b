#pragma once

#include "onnx/onnx_map.h"

namespace tenon {

// Before TreeEnsemble, nodes and leaves are rows of one table, found by (tree id, node id), and a leaf has any number
// of weights. These bring both ops to the form of TreeEnsemble; arrays that carry values stay as they are in the file.
void import_tree_ensemble_regressor(ImportNode& n);
void import_tree_ensemble_classifier(ImportNode& n);

// The way back, for ensembles that were read this way.
bool write_tree_ensemble_regressor(NodeDraft& d);
bool write_tree_ensemble_classifier(NodeDraft& d);

}  // namespace tenon
