#pragma once

#include <string>
#include <vector>

#include "onnx/export_memory.h"
#include "onnx/import.h"

namespace tenon {

struct ExportOptions {
  // Writes every node anew from its canonical form, also the untouched ones.
  bool respell = false;
  // The file has nothing that no output depends on, types of all values as far as they are known, and no large values
  // of Constant nodes.
  bool normal_form = false;
  // Domains that the model does not import and may import now, where one of their ops is written.
  std::unordered_map<std::string, int64_t> more_opsets;
};

// An ONNX model made from a graph. Its messages refer to the imported model, which must outlive it.
struct ExportedModel {
  wire::Model model;
  ExportMemory memory;
  std::vector<std::string> kept;  // ops that respelling left as they were read, because their canonical form has no
                                  // spelling in the versions that the model imports: "Softmax (version 11)"
  size_t respelled = 0;           // ONNX nodes that were written anew
};

// The graph of an imported model, perhaps rewritten, as ONNX. Untouched nodes are written as they were read, the others
// in the versions that the model imports. Unsupported names all nodes that these versions cannot express.
Result<ExportedModel> export_model(const ImportedModel& model, const Graph& graph, const ExportOptions& options = {});

}  // namespace tenon
