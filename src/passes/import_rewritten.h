#pragma once

#include <memory>

#include "onnx/export.h"

namespace tenon {

// A rewritten model, imported again without being written: its nodes are those of the export, its weights lie where
// they lay, and for everybody who asks about files it is the model that was read.
Result<std::shared_ptr<ImportedModel>> import_rewritten(std::shared_ptr<const ImportedModel> model,
                                                        ExportedModel exported);

}  // namespace tenon
