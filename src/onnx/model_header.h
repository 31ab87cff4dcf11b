#pragma once

#include "onnx/graph_importer.h"

namespace tenon {

// An error for a file format that no version of ONNX has, or one that came after the newest known here.
Status check_ir_version(int64_t version);
// The version of each domain that a model or function imports. The default domain has one entry under "". Warns of
// imports that ONNX forbids and whose meaning is clear: a second one of a domain replaces the first, as everywhere, and
// version 0 is one that was not written down.
Result<OpsetVersions> read_opsets(const std::vector<wire::OpsetImport>& imports, ModelImport& model);
// The functions of a model by their keys.
Result<FunctionTable> read_functions(const std::vector<wire::Function>& functions);

}  // namespace tenon
