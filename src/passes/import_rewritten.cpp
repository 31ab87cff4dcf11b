#include "passes/import_rewritten.h"

namespace tenon {

namespace {

// What the messages of the new model refer to.
struct Origin {
  std::shared_ptr<const ImportedModel> model;
  std::shared_ptr<const void> owner;
};

}  // namespace

Result<std::shared_ptr<ImportedModel>> import_rewritten(const std::shared_ptr<const ImportedModel>& model,
                                                        RewrittenModel rewritten) {
  const auto owner = std::make_shared<RewrittenModel>(std::move(rewritten));
  return import_rewritten(model, std::move(owner->exported.model), owner);
}

Result<std::shared_ptr<ImportedModel>> import_rewritten(const std::shared_ptr<const ImportedModel>& model,
                                                        wire::Model messages, std::shared_ptr<const void> owner) {
  auto again = std::make_shared<ImportedModel>();
  again->wire = std::move(messages);
  // A stamp speaks of a file.
  again->wire.metadata = model->wire.metadata;
  again->file = model->file;
  again->path = model->path;
  again->folder = model->folder;
  again->external = model->external;
  again->options = model->options;
  again->bytes = std::make_shared<Origin>(Origin{model, std::move(owner)});
  TN_RETURN_IF_ERROR(import_opened(*again));
  again->warnings = model->warnings;
  return again;
}

}  // namespace tenon
