// What runs the nodes of models: the C side of build/analyze.h.
#include "api/capability_options.h"
#include "api/model_handle.h"
#include "build/analyze.h"
#include "plan/context_model.h"

using namespace tenon;

extern "C" {

tn_status* tn_model_analyze(const tn_model* model, const tn_options* options, char** json) {
  return api::guarded([&]() -> Status {
    if (!model || !json) return invalid_argument("model and json must not be NULL");
    build::AnalyzeRequest request;
    std::map<std::string, int64_t> switches;
    build::CacheOptions cache;
    api::OptionReader reader(options);
    reader.text("provider", request.target);
    reader.text("consumer", request.consumer);
    reader.boolean("optimize", request.optimize);
    reader.integers_by_name("capability", switches);
    api::read_cache_options(reader, cache);
    TN_RETURN_IF_ERROR(reader.finish());
    TN_ASSIGN_OR_RETURN(request.capabilities, api::read_capabilities(switches));
    TN_RETURN_IF_ERROR(check_not_compiled(model->model->wire).in(model->model->path));
    TN_ASSIGN_OR_RETURN(const auto kept, api::open_kept_graphs(cache));
    TN_ASSIGN_OR_RETURN(const build::Json analysis, build::analyze(model->model, request, kept.get()));
    *json = api::copy_text(build::dump(analysis));
    return {};
  });
}

tn_status* tn_analysis_html(const char* analyses, char** html) {
  return api::guarded([&]() -> Status {
    if (!analyses || !html) return invalid_argument("analyses and html must not be NULL");
    const build::Json parsed = build::Json::parse(analyses, nullptr, false);
    if (!parsed.is_array()) return invalid_argument("this is not a list of analyses");
    *html = api::copy_text(build::analysis_html(parsed));
    return {};
  });
}

}  // extern "C"
