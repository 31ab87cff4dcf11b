#include "api/cached_program.h"

#include <map>

#include "artifact/image.h"
#include "base/folder.h"
#include "build/cached_compile.h"

namespace tenon::api {

namespace {

// A cache does not know where models lie, so that what it found in their files is read by this model.
void use_sources_of(const std::shared_ptr<ImportedModel>& model, const ArtifactContents& contents,
                    WeightSnapshot& weights) {
  std::map<std::string_view, const Constant*> by_name;
  for (const Constant& constant : *model->graph.constants)
    if (!constant.source.empty()) by_name.emplace(constant.source, &constant);
  const ModelRecord& record = contents.models[0];
  for (size_t i = 0; i < record.sources.size(); ++i) {
    const SourceRecord& source = contents.sources[static_cast<size_t>(record.sources[i])];
    const auto it = by_name.find(source.info.name);
    if (source.place != SourceRecord::Place::InFile || it == by_name.end()) continue;
    SourceBytes bytes{it->second->tensor, nullptr, source.content};
    if (it->second->load) bytes.load = [model, load = it->second->load] { return load(); };
    weights.sources[i] = std::make_shared<SourceBytes>(std::move(bytes));
  }
}

Status take_status(tn_status* failure) {
  if (!failure) return {};
  Status status(static_cast<Code>(tn_status_code(failure)), tn_status_message(failure));
  tn_status_release(failure);
  return status;
}

}  // namespace

Result<CachedProgram> program_through_cache(const tn_model& model, const std::string& target,
                                            const build::CacheOptions& cache, tn_context* context) {
  tn_options options;
  options.values["provider"] = target;
  char* key = nullptr;
  TN_RETURN_IF_ERROR(take_status(tn_compile_key(&model, &options, &key)));
  const std::string compile_key = key;
  tn_string_release(key);
  const std::string& path = model.model->path;
  const build::CachedModelRequest request{&model, "model", path.empty() ? "" : file_name_of(path), &options,
                                          compile_key};
  TN_ASSIGN_OR_RETURN(const auto image, build::compile_through_cache(request, cache, context));
  TN_ASSIGN_OR_RETURN(const auto weights, image_weights(image, 0));
  auto own = std::make_shared<WeightSnapshot>(*weights);
  use_sources_of(model.model, image->contents(), *own);
  const ModelRecord& record = image->contents().models[0];
  return CachedProgram{record.program, std::move(own), record.plan_key};
}

}  // namespace tenon::api
