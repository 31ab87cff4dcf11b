#include "api/cached_program.h"
#include "api/capability_options.h"
#include "artifact/file_image.h"
#include "compiler/recompile.h"
#include "plan/context_model.h"
#include "plan/keys.h"
#include "runtime/api/artifact_handles.h"
#include "runtime/api/session_request.h"

using namespace tenon;

namespace {

// When the library is loaded.
const bool recompile_is_offered = (offer_recompile(), true);

// Puts the caller's tensors in the place of weights, as a swap would, so that nothing the plan was decided by changes.
Status take_given(const Program& program, const std::map<std::string, Value>& given, WeightSnapshot& weights) {
  if (given.empty()) return {};
  std::map<std::string, Tensor> tensors;
  SwapOptions options;
  options.partial = true;
  for (const auto& [name, value] : given) {
    tensors.emplace(name, *value.tensor());
    options.only.push_back(name);
  }
  const auto source = weights_in_memory(std::move(tensors), false);
  TN_ASSIGN_OR_RETURN(const PlannedSwap planned, plan_swap(program, weights, *source, options));
  for (size_t i = 0; i < planned.changed.size(); ++i) {
    if (!planned.changed[i]) continue;
    TN_ASSIGN_OR_RETURN(Tensor tensor, source->read(program.sources[i].name));
    weights.sources[i] = std::make_shared<SourceBytes>(SourceBytes{std::move(tensor), nullptr, std::nullopt});
  }
  return {};
}

// The symbols of input dimensions that carry a denotation, with the extents asked for.
void add_denoted(const ImportedModel& model, const std::map<std::string, int64_t>& denotations,
                 std::map<std::string, int64_t>& dims) {
  for (const wire::ValueInfo& input : model.wire.graph.inputs) {
    if (!input.type.shape) continue;
    for (const GraphInput& g : model.graph.inputs) {
      const GraphValue& value = model.graph.value(g.value);
      if (value.name != input.name || !value.type.shape || value.type.shape->size() != input.type.shape->size())
        continue;
      for (size_t i = 0; i < value.type.shape->size(); ++i) {
        auto wanted = denotations.find(std::string(wire::denotation((*input.type.shape)[i])));
        auto symbol = (*value.type.shape)[i].as_symbol();
        if (wanted != denotations.end() && symbol) dims[*symbol] = wanted->second;
      }
    }
  }
}

// A model that is compiled already.
Result<std::unique_ptr<Session>> context_session(const ImportedModel& model, const tn_options* options,
                                                 const api::SessionRequest& request, const OpenOptions& open) {
  auto image = model.path.empty() ? open_image_in_memory(model.file, model.bytes, model.folder, open)
                                  : open_image({model.path}, open);
  if (!image.ok()) return std::move(image).status();
  const ModelRecord& record = (*image)->contents().models[0];
  TN_ASSIGN_OR_RETURN(auto weights, image_weights(*image, 0));
  TN_ASSIGN_OR_RETURN(auto session, Session::make(request.apply(record.program), std::move(weights),
                                                  request.settings_for(record.plan_key, (*image)->recompile(0))));
  TN_RETURN_IF_ERROR(api::set_given_weights(options, *session));
  return session;
}

// A model whose compiled form is in the compile cache, or will be.
Result<std::unique_ptr<Session>> cached_session(const tn_model& model, const tn_options* options,
                                                const api::SessionRequest& request,
                                                const CompileOptions& compile_options, const build::CacheOptions& cache,
                                                tn_context* context) {
  auto cached = api::program_through_cache(model, compile_options.target, cache, context);
  if (!cached.ok()) return std::move(cached).status().in(model.model->path);
  TN_ASSIGN_OR_RETURN(auto session, Session::make(request.apply(cached->program), cached->weights,
                                                  request.settings_for(cached->plan_key,
                                                                       recompile_with(model.model, compile_options))));
  TN_RETURN_IF_ERROR(api::set_given_weights(options, *session));
  return session;
}

}  // namespace

extern "C" {

tn_status* tn_session_create(tn_context* context, const tn_model* model, const tn_options* options,
                             tn_session** session) {
  return api::guarded([&]() -> Status {
    if (!model || !session) return invalid_argument("model and session must not be NULL");
    api::SessionRequest request;
    CompileOptions compile_options;
    std::map<std::string, int64_t> denotations;
    api::OptionReader reader(options);
    request.read(context, reader);
    reader.text("provider", compile_options.target);
    reader.integers_by_name("denotation", denotations);
    const bool is_compiled = is_context_model(model->model->wire);
    OpenOptions open;
    build::CacheOptions cache;
    // Others are open already.
    if (is_compiled) api::read_open_options(reader, open);
    // And these need no compile.
    api::read_cache_options(reader, cache);
    TN_RETURN_IF_ERROR(reader.finish());
    TN_RETURN_IF_ERROR(api::check_dim_names(*model, request.dims));
    const auto name_extents = [model = model->model](const tn_session::Types& inputs,
                                                     const tn_session::Types& outputs) {
      api::use_declared_names(*model, inputs, outputs);
    };

    if (is_compiled) {
      TN_ASSIGN_OR_RETURN(auto made, context_session(*model->model, options, request, open));
      *session = api::make_session_handle(std::move(made), name_extents);
      return {};
    }
    if (!denotations.empty()) add_denoted(*model->model, denotations, request.dims);
    if (cache.is_on) {
      TN_ASSIGN_OR_RETURN(auto made, cached_session(*model, options, request, compile_options, cache, context));
      *session = api::make_session_handle(std::move(made), name_extents);
      return {};
    }
    auto compiled = compile(model->model->graph, compile_options);
    if (!compiled.ok()) return std::move(compiled).status().in(model->model->path);
    WeightSnapshot weights = own_weights(*compiled, model->model);
    if (options) TN_RETURN_IF_ERROR(take_given(*compiled->program, options->weights, weights));
    // Weights fit the plan as it was compiled, whatever extents a session fixes, as they do for a compiled model.
    std::optional<Hash128> key;
    if (request.changes_plan()) key = plan_key(*compiled->program);
    TN_ASSIGN_OR_RETURN(auto made,
                        Session::make_from_sources(
                            request.apply(compiled->program), std::move(weights),
                            request.settings_for(key, recompile_with(model->model, std::move(compile_options)))));
    *session = api::make_session_handle(std::move(made), name_extents);
    return {};
  });
}

}  // extern "C"
