// Models to artifacts.
#include <set>

#include "api/model_handle.h"
#include "compiler/built_image.h"
#include "plan/tensor_bytes.h"
#include "runtime/api/artifact_handles.h"

using namespace tenon;

namespace {

struct CompileRequest {
  CompileOptions compile;
  BuildOptions build;
  std::string text;  // all of it, for the key
};

Result<CompileRequest> read_compile_options(const tn_options* options) {
  CompileRequest request;
  std::string sources = "reference";
  std::map<std::string, int64_t> pins;
  api::OptionReader reader(options);
  reader.text("provider", request.compile.target);
  reader.text("sources", sources);
  reader.boolean("defer_weights", request.build.defer_weights);
  reader.integers_by_name("pin", pins);
  TN_RETURN_IF_ERROR(reader.finish());
  for (const auto& [name, chosen] : pins)
    if (chosen) request.compile.pinned.push_back(name);
  if (sources == "embed")
    request.build.sources = KeepSources::Embed;
  else if (sources == "none")
    request.build.sources = KeepSources::None;
  else if (sources != "reference")
    return invalid_argument("option 'sources' must be reference, embed or none, it is '{}'", sources);
  request.text = fmt::format("{};{};{};{}", TENON_VERSION, request.compile.target, sources,
                             request.build.defer_weights ? "deferred" : "");
  for (const std::string& name : request.compile.pinned) request.text += ";" + name;
  return request;
}

// Of everything that decides about the result: the model file, what lies outside it, and the options.
Result<Hash128> made_from(const ImportedModel& model, const std::string& options) {
  StreamingHash hash;
  const auto add = [&](const Hash128& part) { hash.add(part.hex()); };
  add(hash_bytes(options));
  add(hash_bytes(model.file));
  hash.add(model.frozen_inputs ? "frozen" : "");
  for (const Constant& constant : *model.graph.constants) {
    const bool outside = constant.load && (!constant.external || !model.path.ends_with(constant.external->file));
    if (!outside) continue;
    TN_ASSIGN_OR_RETURN(const Tensor tensor, constant.value());
    add(content_hash(tensor));
  }
  return hash.value();
}

}  // namespace

extern "C" {

tn_status* tn_compile(tn_context* context, const tn_model* const* models, const char* const* names, size_t count,
                      const tn_options* options, tn_artifact** artifact) {
  return api::guarded([&]() -> Status {
    if (!models || !names || !artifact) return invalid_argument("models, names and artifact must not be NULL");
    TN_ASSIGN_OR_RETURN(CompileRequest request, read_compile_options(options));
    request.build.pool = api::context_pool(context);
    std::set<std::string> known;
    std::vector<ModelToBuild> all;
    for (size_t i = 0; i < count; ++i) {
      if (!models[i] || !names[i]) return invalid_argument("model {} or its name is NULL", i);
      if (!known.insert(names[i]).second) return invalid_argument("two models are called '{}'", names[i]);
      const auto& model = models[i]->model;
      auto compiled = compile(model->graph, request.compile);
      if (!compiled.ok()) return std::move(compiled).status().in(model->path);
      TN_ASSIGN_OR_RETURN(const Hash128 key, made_from(*model, request.text));
      all.push_back({names[i], model, std::move(*compiled), hash_bytes(model->file), key});
    }
    TN_ASSIGN_OR_RETURN(auto image, build_image(std::move(all), request.build));
    *artifact = new tn_artifact{std::move(image)};
    return {};
  });
}

tn_status* tn_compile_key(const tn_model* model, const tn_options* options, char** key) {
  return api::guarded([&]() -> Status {
    if (!model || !key) return invalid_argument("model and key must not be NULL");
    TN_ASSIGN_OR_RETURN(const CompileRequest request, read_compile_options(options));
    TN_ASSIGN_OR_RETURN(const Hash128 hash, made_from(*model->model, request.text));
    *key = api::copy_text(hash.hex());
    return {};
  });
}

}  // extern "C"
