#include "api/model_handle.h"
#include "compiler/compile.h"
#include "plan/context_model.h"
#include "runtime/api/session_request.h"
#include "runtime/file_image.h"

using namespace tenon;

namespace {

// What the compiled model's sources are: the file's, or the caller's tensors, which must have the same element type and
// shape. The file stays open, so that its weights can be read again.
Result<std::vector<std::shared_ptr<const SourceBytes>>> source_bytes(const CompiledModel& compiled,
                                                                     const std::shared_ptr<ImportedModel>& model,
                                                                     std::map<std::string, Value> given) {
  std::vector<std::shared_ptr<const SourceBytes>> sources;
  for (const Constant& constant : compiled.sources) {
    SourceBytes bytes{constant.tensor, nullptr, std::nullopt};
    if (constant.load) bytes.load = [model, load = constant.load] { return load(); };
    if (const auto it = given.find(constant.source); it != given.end()) {
      const Tensor& tensor = *it->second.tensor();
      if (tensor.dtype() != constant.dtype || tensor.dims() != constant.dims)
        return invalid_argument("the weight '{}' is {}{}, the tensor given for it is {}{}", constant.source,
                                dtype_name(constant.dtype), shape_text(to_shape(constant.dims)),
                                dtype_name(tensor.dtype()), shape_text(to_shape(tensor.dims())));
      bytes = {tensor, nullptr, std::nullopt};
      given.erase(it);
    }
    sources.push_back(std::make_shared<SourceBytes>(std::move(bytes)));
  }
  if (!given.empty()) return error(Code::NotFound, "the model has no weight called '{}'", given.begin()->first);
  return sources;
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
Result<tn_session*> context_session(const ImportedModel& model, const tn_options* options,
                                    const api::SessionRequest& request) {
  auto image =
      model.path.empty() ? open_image_in_memory(model.file, model.bytes, model.folder) : open_image({model.path});
  if (!image.ok()) return std::move(image).status();
  const ModelRecord& record = (*image)->contents().models[0];
  SessionOptions settings = request.settings;
  settings.plan_key = record.plan_key;
  TN_ASSIGN_OR_RETURN(auto weights, image_weights(*image, 0));
  TN_ASSIGN_OR_RETURN(auto session, Session::make(request.apply(record.program), std::move(weights), settings));
  if (options && !options->weights.empty()) {
    std::map<std::string, Tensor> tensors;
    SwapOptions swap;
    swap.partial = swap.strict = true;
    for (const auto& [name, value] : options->weights) tensors.emplace(name, *value.tensor());
    const std::shared_ptr<const WeightSource> source = weights_in_memory(std::move(tensors), false);
    TN_RETURN_IF_ERROR(session->set_weights(source, swap).status());
  }
  return api::make_session_handle(std::move(session));
}

}  // namespace

extern "C" {

tn_status* tn_session_create(tn_context* context, const tn_model* model, const tn_options* options,
                             tn_session** session) {
  return api::guarded([&]() -> Status {
    if (!model || !session) return invalid_argument("model and session must not be NULL");
    api::SessionRequest request;
    request.use(context);
    CompileOptions compile_options;
    std::map<std::string, int64_t> denotations;
    api::OptionReader reader(options);
    request.read(reader);
    reader.text("provider", compile_options.target);
    reader.integers_by_name("denotation", denotations);
    TN_RETURN_IF_ERROR(reader.finish());
    TN_RETURN_IF_ERROR(api::check_dim_names(*model, request.dims));

    if (is_context_model(model->model->wire)) {
      TN_ASSIGN_OR_RETURN(*session, context_session(*model->model, options, request));
      api::use_declared_names(*model->model, (*session)->input_types, (*session)->output_types);
      return {};
    }
    auto compiled = compile(model->model->graph, compile_options);
    if (!compiled.ok()) return std::move(compiled).status().in(model->model->path);
    TN_ASSIGN_OR_RETURN(auto sources, source_bytes(*compiled, model->model,
                                                   options ? options->weights : std::map<std::string, Value>()));
    if (!denotations.empty()) add_denoted(*model->model, denotations, request.dims);
    TN_ASSIGN_OR_RETURN(auto made,
                        Session::make(request.apply(compiled->program), std::move(sources), request.settings));
    *session = api::make_session_handle(std::move(made));
    api::use_declared_names(*model->model, (*session)->input_types, (*session)->output_types);
    return {};
  });
}

}  // extern "C"
