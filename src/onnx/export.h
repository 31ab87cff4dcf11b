#pragma once

#include <deque>
#include <string>
#include <vector>

#include "onnx/import.h"
#include "wire/onnx_build.h"

namespace tenon {

struct ExportOptions {
  // Writes every node anew from its canonical form, also those that nobody changed.
  bool respell = false;
};

// An ONNX model made from a graph. Its messages refer to the imported model and to the graph's constants.
struct ExportedModel {
  wire::Model model;
  wire::MessageBuilder strings;
  std::deque<Tensor> tensors;     // whose bytes the messages refer to
  std::vector<std::string> kept;  // ops that respelling left as they were read, because their canonical form has no
                                  // spelling in the versions that the model imports: "Softmax (version 11)"
  size_t respelled = 0;           // ONNX nodes that were written anew
};

// The graph of an imported model, perhaps rewritten, as ONNX. What nobody changed is written as it was read; the other
// nodes in the versions that the model imports. Unsupported names all nodes that these versions cannot say.
Result<ExportedModel> export_model(const ImportedModel& model, const Graph& graph, const ExportOptions& options = {});

}  // namespace tenon
