// Models to artifacts.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <thread>

#include "api/model_handle.h"
#include "base/folder.h"
#include "compiler/built_image.h"
#include "executor/within_memory.h"
#include "runtime/api/artifact_handles.h"

using namespace tenon;

namespace {

struct CompileRequest {
  CompileOptions compile;
  BuildOptions build;
  std::map<std::string, std::string> targets;  // of models that want another one
  int64_t jobs = 1;
  std::string text;  // what decides about the result besides the target, for the key

  const std::string& target_of(const std::string& model) const {
    const auto it = targets.find(model);
    return it == targets.end() ? compile.target : it->second;
  }
};

Result<CompileRequest> read_compile_options(const tn_options* options) {
  CompileRequest request;
  std::string sources = "reference";
  std::map<std::string, int64_t> pins;
  api::OptionReader reader(options);
  reader.text("provider", request.compile.target);
  reader.texts_by_name("provider", request.targets);
  reader.integer("jobs", request.jobs, 1);
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
    return invalid_argument("option 'sources' must be reference, embed or none, but it is '{}'", sources);
  request.text = fmt::format("{};{};{}", TENON_VERSION, sources, request.build.defer_weights ? "deferred" : "");
  for (const std::string& name : request.compile.pinned) request.text += ";" + name;
  return request;
}

// Of everything that decides about the result: the model file, what lies outside it, and the options.
Result<Hash128> made_from(const tn_model& handle, const std::string& target, const CompileRequest& request) {
  const ImportedModel& model = *handle.model;
  const ModelContent& content = *handle.content;
  StreamingHash hash;
  const auto add = [&](const Hash128& part) { hash.add(part.hex()); };
  add(hash_bytes(target));
  add(hash_bytes(request.text));
  add(content.of_file());
  if (!handle.derivation.empty()) add(hash_bytes(handle.derivation));
  for (const std::string& name : model.frozen_inputs) add(hash_bytes(name));
  for (const Constant& constant : *model.graph.constants) {
    const bool inside = constant.place && constant.place->file == file_name_of(model.path);
    // Without weights they do not matter, and need not even be there.
    if (inside || constant.source.empty() || (request.build.defer_weights && constant.load)) continue;
    TN_ASSIGN_OR_RETURN(const Hash128 elements, content.of(constant));
    add(elements);
  }
  return hash.value();
}

bool has_weight(const ImportedModel& model, const std::string& name) {
  return std::ranges::any_of(*model.graph.constants, [&](const Constant& c) { return c.source == name; });
}

// What options name must be there: a pinned weight in some model, a model by its name.
Status check_names(const CompileRequest& request, std::span<const tn_model* const> models,
                   const std::set<std::string>& names) {
  for (const auto& [name, target] : request.targets)
    if (!names.contains(name)) return error(Code::NotFound, "option 'provider:{}': no model has this name", name);
  for (const std::string& name : request.compile.pinned)
    if (std::ranges::none_of(models, [&](const tn_model* m) { return has_weight(*m->model, name); }))
      return error(Code::NotFound, "'{}' cannot be pinned because no model has such a weight", name);
  return {};
}

Result<ModelToBuild> compile_one(const CompileRequest& request, const tn_model& handle, const std::string& name) {
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<ImportedModel>& model = handle.model;
  CompileOptions options = request.compile;
  options.target = request.target_of(name);
  // In a group each model pins what it has.
  std::erase_if(options.pinned, [&](const std::string& pin) { return !has_weight(*model, pin); });
  auto compiled = compile(model->graph, options);
  if (!compiled.ok()) return std::move(compiled).status().in(model->path);
  TN_ASSIGN_OR_RETURN(const Hash128 key, made_from(handle, options.target, request));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return ModelToBuild{name, model, handle.content, std::move(options), std::move(*compiled), key, seconds.count()};
}

// Several at a time; the first that fails, in their order, says why.
Result<std::vector<ModelToBuild>> compile_all(const CompileRequest& request, std::span<const tn_model* const> models,
                                              const char* const* names) {
  std::vector<std::optional<Result<ModelToBuild>>> made(models.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next++) < models.size();)
      made[i].emplace(within_memory([&] { return compile_one(request, *models[i], names[i]); }));
  };
  {
    std::vector<std::jthread> helpers;
    const size_t jobs = std::min(static_cast<size_t>(request.jobs), models.size());
    try {
      for (size_t i = 1; i < jobs; ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // The system gives no more threads; this one and those there are do the work.
    }
    work();
  }
  std::vector<ModelToBuild> all;
  for (auto& result : made) {
    if (!result->ok()) return std::move(*result).status();
    all.push_back(std::move(**result));
  }
  return all;
}

}  // namespace

extern "C" {

tn_status* tn_compile(tn_context* context, const tn_model* const* models, const char* const* names, size_t count,
                      const tn_options* options, tn_artifact** artifact) {
  return api::guarded([&]() -> Status {
    if (!models || !names || !artifact) return invalid_argument("models, names and artifact must not be NULL");
    if (count == 0) return invalid_argument("no model is given");
    TN_ASSIGN_OR_RETURN(CompileRequest request, read_compile_options(options));
    request.build.pool = api::context_pool(context);
    std::set<std::string> known;
    for (size_t i = 0; i < count; ++i) {
      if (!models[i] || !names[i]) return invalid_argument("model {} and its name must not be NULL", i);
      if (!known.insert(names[i]).second) return invalid_argument("two models are named '{}'", names[i]);
    }
    TN_RETURN_IF_ERROR(check_names(request, {models, count}, known));
    TN_ASSIGN_OR_RETURN(auto all, compile_all(request, {models, count}, names));
    TN_ASSIGN_OR_RETURN(auto image, build_image(std::move(all), request.build));
    *artifact = new tn_artifact{std::move(image)};
    return {};
  });
}

tn_status* tn_compile_key(const tn_model* model, const tn_options* options, char** key) {
  return api::guarded([&]() -> Status {
    if (!model || !key) return invalid_argument("model and key must not be NULL");
    TN_ASSIGN_OR_RETURN(const CompileRequest request, read_compile_options(options));
    TN_ASSIGN_OR_RETURN(const Hash128 hash, made_from(*model, request.compile.target, request));
    *key = api::copy_text(hash.hex());
    return {};
  });
}

}  // extern "C"
