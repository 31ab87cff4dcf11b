#include "build/cached_compile.h"

#include <algorithm>

#include "artifact/joined_image.h"
#include "build/cache/compile_cache.h"
#include "build/model_handle.h"
#include "runtime/api/artifact_handles.h"

namespace tenon::build {

namespace {

// Artifacts also note the name of the file, where weights that are not stored were found.
Hash128 cache_key(const CachedModelRequest& request) {
  StreamingHash hash;
  for (const std::string& part : {compile_version(), request.compile_key, request.file_name})
    hash.add(hash_bytes(part).hex());
  return hash.value();
}

Status to_status(tn_status* failure) {
  if (!failure) return {};
  Status status(static_cast<Code>(tn_status_code(failure)), tn_status_message(failure));
  tn_status_release(failure);
  return status;
}

Result<std::shared_ptr<const Image>> compile_alone(const CachedModelRequest& request, tn_context* context) {
  const char* const name = request.name.c_str();
  tn_artifact* artifact = nullptr;
  TN_RETURN_IF_ERROR(to_status(tn_compile(context, &request.model, &name, 1, request.options, &artifact)));
  std::shared_ptr<const Image> image = artifact->image;
  tn_artifact_release(artifact);
  return image;
}

}  // namespace

class CachedCompile::State {
 public:
  State(size_t count, tn_context* context) : context(context), models(count), parts(count) {}

  // The order of the models does not show in a weights file, their names do.
  Hash128 group_key() const {
    std::vector<std::string> texts;
    for (size_t i = 0; i < models.size(); ++i) texts.push_back(models[i].key.hex() + hash_bytes(parts[i].name).hex());
    std::ranges::sort(texts);
    StreamingHash hash;
    for (const std::string& text : texts) hash.add(text);
    return hash.value();
  }

  tn_context* context;
  std::unique_ptr<CompileCache> cache;  // null: it is off
  std::vector<CompileCache::ModelToKeep> models;
  std::vector<ModelToJoin> parts;
  Hash128 key;
  tn_artifact artifact;
};

CachedCompile::CachedCompile(size_t count, tn_context* context) : state_(std::make_unique<State>(count, context)) {}
CachedCompile::~CachedCompile() = default;

Status CachedCompile::open_cache(const CacheOptions& options) {
  TN_ASSIGN_OR_RETURN(state_->cache, CompileCache::open(options));
  return {};
}

Status CachedCompile::add(size_t model, const CachedModelRequest& request) {
  CompileCache::ModelToKeep& kept = state_->models[model];
  if (state_->cache) {
    kept.key = cache_key(request);
    if (auto found = state_->cache->find(kept.key)) {
      kept.image = std::move(found->image);
      kept.validation = std::move(found->validation);
      kept.is_known = true;
    }
  }
  if (!kept.is_known) {
    TN_ASSIGN_OR_RETURN(kept.image, compile_alone(request, state_->context));
  }
  const std::shared_ptr<ImportedModel>& imported = request.model->model;
  state_->parts[model] = {kept.image, request.name, std::shared_ptr<const wire::Model>(imported, &imported->wire),
                          request.file_name, kept.is_known};
  return {};
}

void CachedCompile::join() {
  State& state = *state_;
  std::string weights_file;
  if (state.cache) state.key = state.group_key();
  if (std::ranges::all_of(state.models, &CompileCache::ModelToKeep::is_known))
    weights_file = state.cache->find_group(state.key);
  state.artifact.image = join_images(state.parts, weights_file);
}

const tn_artifact* CachedCompile::artifact() const { return &state_->artifact; }
bool CachedCompile::is_cached(size_t model) const { return state_->models[model].is_known; }
const std::string& CachedCompile::earlier_verdict(size_t model) const { return state_->models[model].validation; }

std::shared_ptr<const Image> CachedCompile::stored(size_t model) const {
  auto found = state_->cache ? state_->cache->find(state_->models[model].key) : std::nullopt;
  return found ? std::move(found->image) : nullptr;
}

Status CachedCompile::keep(const std::string& weights_path, const std::vector<std::string>& verdicts) const {
  if (!state_->cache) return {};
  CompileCache::GroupToKeep group{state_->key, weights_path, state_->artifact.image, state_->models};
  for (size_t i = 0; i < verdicts.size(); ++i) group.models[i].validation = verdicts[i];
  return state_->cache->keep(group);
}

Result<std::shared_ptr<const Image>> compile_through_cache(const CachedModelRequest& request,
                                                           const CacheOptions& options, tn_context* context) {
  CachedCompile compiled(1, context);
  Status usable = compiled.open_cache(options);
  if (!options.folder.empty()) TN_RETURN_IF_ERROR(usable);
  TN_RETURN_IF_ERROR(compiled.add(0, request));
  compiled.join();
  // Weights that were packed for the cache are read there, and not packed again.
  if (usable.ok() && !compiled.is_cached(0) && compiled.keep("", {}).ok())
    if (auto stored = compiled.stored(0)) return stored;
  return compiled.artifact()->image;
}

}  // namespace tenon::build
