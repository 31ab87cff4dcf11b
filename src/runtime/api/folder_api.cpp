// Folders with compiled models: which file belongs to which, and what nobody needs any more.
#include <nlohmann/json.hpp>

#include "artifact/leftovers.h"
#include "base/file.h"
#include "base/folder.h"
#include "plan/context_model.h"
#include "runtime/api/handles.h"
#include "wire/onnx_write.h"

using namespace tenon;
using nlohmann::json;

extern "C" {

tn_status* tn_context_file_describe(const char* path, char** text) {
  return api::guarded([&]() -> Status {
    if (!path || !text) return invalid_argument("path and json must not be NULL");
    TN_ASSIGN_OR_RETURN(const auto file, MappedFile::open(path));
    const auto model = wire::parse_model(file->view(), {});
    if (!model.ok()) return Status(model.status()).in(path);
    const auto context = read_context_model(*model);
    if (!context.ok()) return Status(context.status()).in(path);
    const json result = {{"model", context->model_name},        {"embedded", context->embedded},
                         {"weights_file", context->file_name},  {"content_id", context->content_id.hex()},
                         {"plan_key", context->plan_key.hex()}, {"source_file", context->source_model},
                         {"made_by", context->version},         {"validation", noted_validation(*model)}};
    *text = api::copy_text(result.dump(2, ' ', false, json::error_handler_t::replace));
    return {};
  });
}

tn_status* tn_context_file_note_validation(const char* path, const char* verdict) {
  return api::guarded([&]() -> Status {
    if (!path || !verdict) return invalid_argument("path and verdict must not be NULL");
    TN_ASSIGN_OR_RETURN(const auto file, MappedFile::open(path));
    auto model = wire::parse_model(file->view(), {});
    if (!model.ok()) return Status(model.status()).in(path);
    if (const auto context = read_context_model(*model); !context.ok()) return Status(context.status()).in(path);
    wire::MessageBuilder builder;
    note_validation(*model, verdict, builder);
    auto encoded = wire::encode_model(*model);
    if (!encoded.ok()) return Status(encoded.status()).in(path);
    return write_file_atomically(path, encoded->pieces());
  });
}

tn_status* tn_folder_tidy(const char* folder, const char* weights_name) {
  return api::guarded([&]() -> Status {
    if (!folder || !weights_name) return invalid_argument("folder and weights_name must not be NULL");
    TN_ASSIGN_OR_RETURN(const FileLock lock, FileLock::wait(*folder ? folder : "."));
    remove_stale_staging(*folder ? folder : ".");
    remove_unnamed_weights(*folder ? folder : ".", weights_name, {});
    return {};
  });
}

tn_status* tn_folder_complete(const char* folder) {
  return api::guarded([&]() -> Status {
    if (!folder) return invalid_argument("folder must not be NULL");
    TN_ASSIGN_OR_RETURN(const FileLock lock, FileLock::wait(*folder ? folder : "."));
    return complete_publications(*folder ? folder : ".");
  });
}

}  // extern "C"
