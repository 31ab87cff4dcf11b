// Optimized models: the C side of src/passes and build/optimize_file.h.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/capability_options.h"
#include "api/model_handle.h"
#include "build/capability_report.h"
#include "build/optimize_file.h"
#include "build/optimize_in_memory.h"
#include "build/save_optimized.h"
#include "passes/optimize_model.h"
#include "wire/onnx_write.h"

using namespace tenon;

Result<CapabilityChoice> api::read_capabilities(const std::map<std::string, int64_t>& switches) {
  std::vector<std::string> enable, disable;
  for (const auto& [name, on] : switches) (on ? enable : disable).push_back(name);
  return choose_capabilities(enable, disable);
}

Result<std::unique_ptr<build::KeptGraphs>> api::open_kept_graphs(const build::CacheOptions& options) {
  if (!options.is_on) return std::unique_ptr<build::KeptGraphs>();
  auto kept = build::KeptGraphs::open(options);
  if (!kept.ok() && options.folder.empty()) return std::unique_ptr<build::KeptGraphs>();
  return kept;
}

void api::read_cache_options(OptionReader& reader, build::CacheOptions& cache) {
  cache.is_on = false;
  reader.boolean("cache", cache.is_on);
  reader.text("cache_dir", cache.folder);
  reader.integer("cache_bytes", cache.most_bytes, 0);
}

namespace {

void read_file_bytes(api::OptionReader& reader, uint64_t& most) {
  auto bytes = static_cast<int64_t>(most);
  reader.integer("file_bytes", bytes, 0);
  most = std::min(most, static_cast<uint64_t>(bytes));
}

}  // namespace

extern "C" {

tn_status* tn_model_optimize(const tn_model* model, const tn_options* options, char** data, size_t* size,
                             char** report) {
  return api::guarded([&]() -> Status {
    if (!model || !data || !size || !report) return invalid_argument("model, data, size and report must not be NULL");
    std::map<std::string, int64_t> switches;
    api::OptionReader reader(options);
    reader.integers_by_name("capability", switches);
    TN_RETURN_IF_ERROR(reader.finish());
    TN_ASSIGN_OR_RETURN(const CapabilityChoice capabilities, api::read_capabilities(switches));
    TN_ASSIGN_OR_RETURN(const RewrittenModel optimized, optimize_model(*model->model, capabilities.set));
    TN_ASSIGN_OR_RETURN(const std::string bytes, wire::write_model(optimized.exported.model));
    *report = api::copy_text(build::report_of(optimized, capabilities));
    *data = api::copy_text(bytes);
    *size = bytes.size();
    return {};
  });
}

tn_status* tn_model_optimized(const tn_model* model, const tn_options* options, tn_model** optimized, char** report) {
  return api::guarded([&]() -> Status {
    if (!model || !optimized || !report) return invalid_argument("model, optimized and report must not be NULL");
    std::map<std::string, int64_t> switches;
    bool force = false;
    build::CacheOptions cache;
    api::OptionReader reader(options);
    reader.integers_by_name("capability", switches);
    reader.boolean("force", force);
    api::read_cache_options(reader, cache);
    TN_RETURN_IF_ERROR(reader.finish());
    TN_ASSIGN_OR_RETURN(const CapabilityChoice capabilities, api::read_capabilities(switches));
    TN_ASSIGN_OR_RETURN(const auto kept, api::open_kept_graphs(cache));
    TN_ASSIGN_OR_RETURN(build::OptimizedInMemory made,
                        build::optimize_in_memory(model->model, capabilities, force, kept.get()));
    const bool is_same = made.model == model->model;
    auto content = is_same ? model->content : std::make_shared<ModelContent>(made.model, model->content->identity());
    auto handle = std::make_unique<tn_model>(std::move(made.model), std::move(content));
    handle->derivation = is_same ? model->derivation : model->derivation + made.derivation;
    *report = api::copy_text(made.report);
    *optimized = handle.release();
    return {};
  });
}

tn_status* tn_model_save_optimized(const tn_model* model, const char* output, const tn_options* options,
                                   char** report) {
  return api::guarded([&]() -> Status {
    if (!model || !output || !report) return invalid_argument("model, output and report must not be NULL");
    build::SaveRequest request{.output = output};
    std::map<std::string, int64_t> switches;
    api::OptionReader reader(options);
    reader.integers_by_name("capability", switches);
    reader.boolean("overwrite", request.overwrite);
    read_file_bytes(reader, request.most_file_bytes);
    TN_RETURN_IF_ERROR(reader.finish());
    TN_ASSIGN_OR_RETURN(request.capabilities, api::read_capabilities(switches));
    TN_ASSIGN_OR_RETURN(const std::string text, build::save_optimized(*model->model, request));
    *report = api::copy_text(text);
    return {};
  });
}

tn_status* tn_optimize(const char* input, const char* output, const tn_options* options, char** report) {
  return api::guarded([&]() -> Status {
    if (!input || !output || !report) return invalid_argument("input, output and report must not be NULL");
    build::OptimizeRequest request{.input = input, .output = output};
    std::map<std::string, int64_t> switches;
    api::OptionReader reader(options);
    reader.integers_by_name("capability", switches);
    reader.boolean("force", request.force);
    reader.boolean("overwrite", request.overwrite);
    reader.boolean("check", request.check);
    read_file_bytes(reader, request.most_file_bytes);
    reader.boolean("drift", request.drift);
    int64_t seed = 0;
    reader.integer("seed", seed, std::numeric_limits<int64_t>::min());
    TN_RETURN_IF_ERROR(reader.finish());
    request.seed = static_cast<uint64_t>(seed);
    TN_ASSIGN_OR_RETURN(request.capabilities, api::read_capabilities(switches));
    TN_ASSIGN_OR_RETURN(const std::string text, build::optimize_file(request));
    *report = api::copy_text(text);
    return {};
  });
}

tn_status* tn_capabilities_json(char** json) {
  return api::guarded([&]() -> Status {
    if (!json) return invalid_argument("json must not be NULL");
    *json = api::copy_text(build::capabilities_json());
    return {};
  });
}

tn_status* tn_choose_capabilities(const tn_options* options, char** json) {
  return api::guarded([&]() -> Status {
    if (!json) return invalid_argument("json must not be NULL");
    std::map<std::string, int64_t> switches;
    api::OptionReader reader(options);
    reader.integers_by_name("capability", switches);
    TN_RETURN_IF_ERROR(reader.finish());
    TN_ASSIGN_OR_RETURN(const CapabilityChoice choice, api::read_capabilities(switches));
    *json = api::copy_text(build::dump(build::choice_json(choice)));
    return {};
  });
}

}  // extern "C"
