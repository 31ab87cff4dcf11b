// Compiled models to files.
#include "runtime/api/artifact_handles.h"

using namespace tenon;

namespace {

Result<PublishOptions> read_publish_options(const tn_artifact& artifact, const char* const* names, size_t count,
                                            const tn_options* options) {
  const auto& models = artifact.image->contents().models;
  if (count != models.size())
    return invalid_argument("the artifact has {} models, but {} names are given", models.size(), count);
  PublishOptions publish;
  for (size_t i = 0; i < count; ++i) {
    if (!names[i] || !*names[i]) return invalid_argument("name {} is empty", i);
    if (std::string_view(names[i]).find('/') != std::string_view::npos)
      return invalid_argument("'{}' is a path; it must be a file name in the folder", names[i]);
    publish.names.emplace_back(names[i]);
  }
  publish.weights_stem = count == 1 ? models[0].name : "shared";
  api::OptionReader reader(options);
  reader.boolean("embed", publish.embed);
  reader.boolean("overwrite", publish.overwrite);
  reader.text("weights_name", publish.weights_stem);
  reader.boolean("only_changes", publish.write.only_changes);
  reader.boolean("debug_map", publish.write.debug_map);
  TN_RETURN_IF_ERROR(reader.finish());
  if (publish.embed && count > 1)
    return invalid_argument(
        "the weights of {} models cannot be embedded because each model would have a copy of the shared ones", count);
  if (publish.weights_stem.empty() || publish.weights_stem.find('/') != std::string::npos)
    return invalid_argument("'{}' cannot be the name of a weights file", publish.weights_stem);
  return publish;
}

Result<std::unique_ptr<Publication>> stage(const tn_artifact* artifact, const char* folder, const char* const* names,
                                           size_t count, const tn_options* options) {
  if (!artifact || !folder || !names) return invalid_argument("artifact, folder and names must not be NULL");
  TN_ASSIGN_OR_RETURN(PublishOptions publish, read_publish_options(*artifact, names, count, options));
  return Publication::stage(*artifact->image, folder, std::move(publish));
}

}  // namespace

extern "C" {

tn_status* tn_artifact_save(const tn_artifact* artifact, const char* folder, const char* const* names, size_t count,
                            const tn_options* options) {
  return api::guarded([&]() -> Status {
    TN_ASSIGN_OR_RETURN(const auto staged, stage(artifact, folder, names, count, options));
    return staged->publish();
  });
}

tn_status* tn_artifact_stage(const tn_artifact* artifact, const char* folder, const char* const* names, size_t count,
                             const tn_options* options, tn_publication** publication) {
  return api::guarded([&]() -> Status {
    if (!publication) return invalid_argument("publication must not be NULL");
    auto made = std::make_unique<tn_publication>();
    TN_ASSIGN_OR_RETURN(made->publication, stage(artifact, folder, names, count, options));
    for (size_t i = 0; i < count; ++i) made->paths.push_back(made->publication->path(i));
    *publication = made.release();
    return {};
  });
}

const char* tn_publication_path(const tn_publication* publication, size_t model) {
  return publication && model < publication->paths.size() ? publication->paths[model].c_str() : nullptr;
}
const char* tn_publication_weights_name(const tn_publication* publication) {
  return publication ? publication->publication->weights_name().c_str() : nullptr;
}
int64_t tn_publication_weights_bytes(const tn_publication* publication) {
  return publication ? publication->publication->written().file_bytes : 0;
}
tn_status* tn_publication_publish(tn_publication* publication) {
  return api::guarded([&]() -> Status {
    if (!publication) return invalid_argument("publication must not be NULL");
    return publication->publication->publish();
  });
}
void tn_publication_release(tn_publication* publication) { delete publication; }

}  // extern "C"
