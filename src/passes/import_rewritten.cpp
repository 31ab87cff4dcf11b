#include "passes/import_rewritten.h"

namespace tenon {

namespace {

// What the messages of the new model refer to.
struct Origin {
  std::shared_ptr<const ImportedModel> model;
  ExportedModel exported;
};

}  // namespace

Result<std::shared_ptr<ImportedModel>> import_rewritten(std::shared_ptr<const ImportedModel> model,
                                                        ExportedModel exported) {
  auto origin = std::make_shared<Origin>(Origin{std::move(model), std::move(exported)});
  auto again = std::make_shared<ImportedModel>();
  again->wire = std::move(origin->exported.model);
  // A stamp speaks of a file.
  again->wire.metadata = origin->model->wire.metadata;
  again->file = origin->model->file;
  again->path = origin->model->path;
  again->folder = origin->model->folder;
  again->external = origin->model->external;
  again->options = origin->model->options;
  again->bytes = origin;
  TN_RETURN_IF_ERROR(import_opened(*again));
  again->warnings = origin->model->warnings;
  return again;
}

}  // namespace tenon
