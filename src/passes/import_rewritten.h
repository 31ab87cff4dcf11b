#pragma once

#include <memory>

#include "passes/optimize_model.h"

namespace tenon {

// A rewritten model, imported again without being written: its nodes are those of the export, its weights lie where
// they lay, and for everybody who asks about files it is the model that was read.
Result<std::shared_ptr<ImportedModel>> import_rewritten(const std::shared_ptr<const ImportedModel>& model,
                                                        RewrittenModel rewritten);
// The same for messages that `owner` keeps alive.
Result<std::shared_ptr<ImportedModel>> import_rewritten(const std::shared_ptr<const ImportedModel>& model,
                                                        wire::Model messages, std::shared_ptr<const void> owner);

}  // namespace tenon
