// Compiled models: opening, checking, other weights.
#include "artifact/export_sources.h"
#include "artifact/file_image.h"
#include "artifact/verify_image.h"
#include "base/folder.h"
#include "runtime/api/artifact_handles.h"
#include "runtime/api/session_request.h"

using namespace tenon;

namespace tenon::api {

void read_open_options(OptionReader& reader, OpenOptions& open) {
  std::map<std::string, int64_t> folders;
  reader.boolean("map", open.map);
  reader.boolean("verify_weights", open.verify_weights);
  reader.integers_by_name("source_dir", folders);
  for (const auto& [folder, chosen] : folders)
    if (chosen) open.source_dirs.push_back(folder);
}

}  // namespace tenon::api

namespace {

Result<OpenOptions> read_open_options(const tn_options* options) {
  OpenOptions open;
  api::OptionReader reader(options);
  api::read_open_options(reader, open);
  TN_RETURN_IF_ERROR(reader.finish());
  return open;
}

Status check_model(const tn_artifact* artifact, size_t model) {
  const size_t count = tn_artifact_model_count(artifact);
  return model < count ? Status() : invalid_argument("the artifact has {} models, so it has no model {}", count, model);
}

}  // namespace

extern "C" {

tn_status* tn_artifact_load(tn_context*, const char* const* paths, size_t count, const tn_options* options,
                            tn_artifact** artifact) {
  return api::guarded([&]() -> Status {
    if (!paths || !artifact) return invalid_argument("paths and artifact must not be NULL");
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      if (!paths[i]) return invalid_argument("path {} is NULL", i);
      names.emplace_back(paths[i]);
    }
    TN_ASSIGN_OR_RETURN(const OpenOptions open, read_open_options(options));
    TN_ASSIGN_OR_RETURN(auto image, open_image(names, open));
    *artifact = new tn_artifact{std::move(image)};
    return {};
  });
}

tn_status* tn_artifact_load_memory(tn_context*, const void* data, size_t size, const char* folder,
                                   const tn_options* options, tn_artifact** artifact) {
  return api::guarded([&]() -> Status {
    if (!artifact || (!data && size)) return invalid_argument("data and artifact must not be NULL");
    TN_ASSIGN_OR_RETURN(const OpenOptions open, read_open_options(options));
    TN_ASSIGN_OR_RETURN(auto copy, Buffer::allocate(static_cast<int64_t>(size), nullptr));
    if (size) std::copy_n(static_cast<const std::byte*>(data), size, copy->data());
    const std::string_view bytes(reinterpret_cast<const char*>(copy->data()), size);
    TN_ASSIGN_OR_RETURN(auto image, open_image_in_memory(bytes, copy, folder ? folder : "", open));
    *artifact = new tn_artifact{std::move(image)};
    return {};
  });
}

tn_status* tn_is_context_file(const char* path, int* is_context) {
  return api::guarded([&]() -> Status {
    if (!path || !is_context) return invalid_argument("path and is_context must not be NULL");
    TN_ASSIGN_OR_RETURN(const bool found, is_context_file(path));
    *is_context = found;
    return {};
  });
}

void tn_artifact_release(tn_artifact* artifact) { delete artifact; }
size_t tn_artifact_model_count(const tn_artifact* artifact) {
  return artifact ? artifact->image->contents().models.size() : 0;
}
const char* tn_artifact_model_name(const tn_artifact* artifact, size_t model) {
  return model < tn_artifact_model_count(artifact) ? artifact->image->contents().models[model].name.c_str() : nullptr;
}

tn_status* tn_artifact_verify(const tn_artifact* artifact, char** text) {
  return api::guarded([&]() -> Status {
    if (!artifact) return invalid_argument("artifact must not be NULL");
    const auto pool = api::context_pool(nullptr);
    TN_ASSIGN_OR_RETURN(const ImageCheck check, verify_image(artifact->image, pool.get()));
    if (text)
      *text = api::copy_text(fmt::format(R"({{"packed": {}, "recomputed": {}, "without_sources": {}, "guards": {}}})",
                                         check.packed, check.recomputed, check.without_sources, check.guards));
    return {};
  });
}

tn_status* tn_artifact_bake(tn_context* context, const tn_artifact* artifact, const tn_source* source,
                            const tn_options* options, tn_artifact** baked, char** report) {
  return api::guarded([&]() -> Status {
    if (!artifact || !source || !baked) return invalid_argument("artifact, source and baked must not be NULL");
    TN_ASSIGN_OR_RETURN(const SwapOptions swap, api::read_swap_options(options, false));
    const auto source_of = [&](const WeightSnapshot& current) { return api::weight_source(*source, current.layout); };
    TN_ASSIGN_OR_RETURN(BakeResult made, bake(artifact->image, source_of, swap, api::context_pool(context)));
    if (report) *report = api::copy_text(api::reports_json(made.reports, true));
    *baked = new tn_artifact{std::move(made.image)};
    return {};
  });
}

tn_status* tn_artifact_strip(const tn_artifact* artifact, tn_artifact** stripped) {
  return api::guarded([&]() -> Status {
    if (!artifact || !stripped) return invalid_argument("artifact and stripped must not be NULL");
    TN_ASSIGN_OR_RETURN(auto image, strip(artifact->image));
    *stripped = new tn_artifact{std::move(image)};
    return {};
  });
}

tn_status* tn_artifact_export(const tn_artifact* artifact, const char* path) {
  return api::guarded([&]() -> Status {
    if (!artifact || !path) return invalid_argument("artifact and path must not be NULL");
    return export_sources(*artifact->image, path);
  });
}

tn_status* tn_artifact_session(tn_context* context, const tn_artifact* artifact, size_t model,
                               const tn_options* options, tn_session** session) {
  return api::guarded([&]() -> Status {
    if (!artifact || !session) return invalid_argument("artifact and session must not be NULL");
    TN_RETURN_IF_ERROR(check_model(artifact, model));
    api::SessionRequest request;
    api::OptionReader reader(options);
    request.read(context, reader);
    TN_RETURN_IF_ERROR(reader.finish());
    const ModelRecord& record = artifact->image->contents().models[model];
    TN_ASSIGN_OR_RETURN(auto weights, image_weights(artifact->image, model));
    // Extents do not matter to weights, so they fit whatever was fixed.
    TN_ASSIGN_OR_RETURN(auto made,
                        Session::make(request.apply(record.program), std::move(weights),
                                      request.settings_for(record.plan_key, artifact->image->recompile(model))));
    TN_RETURN_IF_ERROR(api::set_given_weights(options, *made));
    *session = api::make_session_handle(std::move(made));
    return {};
  });
}

tn_status* tn_artifact_weights(const tn_artifact* artifact, size_t model, tn_weights** weights) {
  return api::guarded([&]() -> Status {
    if (!artifact || !weights) return invalid_argument("artifact and weights must not be NULL");
    TN_RETURN_IF_ERROR(check_model(artifact, model));
    TN_ASSIGN_OR_RETURN(auto snapshot, image_weights(artifact->image, model));
    *weights = new tn_weights{{artifact->image->contents().models[model].plan_key, std::move(snapshot)}};
    return {};
  });
}

}  // extern "C"
