#include "api/model_handle.h"
#include "compiler/compile.h"

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
  if (!given.empty())
    return error(Code::NotFound, "the model has no weight called '{}'", given.begin()->first);
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

// Where the file names an extent of an output that stays symbolic, that name is what users know.
void use_declared_names(const ImportedModel& model, tn_session& session) {
  for (size_t i = 0; i < model.wire.graph.outputs.size() && i < session.output_types.size(); ++i) {
    const auto& declared = model.wire.graph.outputs[i].type.shape;
    tn_type& type = *session.output_types[i];
    if (!declared || !type.type.shape || declared->size() != type.dim_texts.size()) continue;
    for (size_t d = 0; d < declared->size(); ++d)
      if ((*declared)[d].param && !(*declared)[d].param->empty() && !(*type.type.shape)[d].is_constant())
        type.dim_texts[d] = std::string(*(*declared)[d].param);
  }
}

void fix_dims(Plan& plan, const std::map<std::string, int64_t>& dims) {
  for (PlanValue& v : plan.values) {
    if (!v.type.shape) continue;
    for (Dim& d : *v.type.shape)
      d = d.substitute([&](const std::string& name) -> std::optional<Dim> {
        auto it = dims.find(name);
        return it == dims.end() ? std::nullopt : std::optional(Dim(it->second));
      });
  }
}

// Makes every named value that some step computes an output, after the model's own and in order of computation.
void keep_values(Plan& plan) {
  for (const Step& step : plan.steps)
    for (PlanValueId v : step.outputs) {
      if (v == kNoValue || plan.values[static_cast<size_t>(v)].name.empty()) continue;
      plan.outputs.push_back(v);
      plan.output_names.push_back(plan.values[static_cast<size_t>(v)].name);
    }
}

}  // namespace

extern "C" {

tn_status* tn_session_create(tn_context* context, const tn_model* model, const tn_options* options,
                             tn_session** session) {
  return api::guarded([&]() -> Status {
    if (!model || !session) return invalid_argument("model and session must not be NULL");
    SessionOptions settings;
    settings.limits = api::context_or_default(context).limits;
    CompileOptions compile_options;
    std::map<std::string, int64_t> dims, denotations;
    int64_t seed = 0;
    bool keep = false;
    api::OptionReader reader(options);
    reader.text("provider", compile_options.target);
    reader.integer("memory_limit", settings.limits.memory_bytes, 1);
    reader.integer("loop_limit", settings.limits.loop_iterations, 1);
    reader.integer("cached_bindings", settings.limits.cached_bindings, 1);
    reader.integer("seed", seed, std::numeric_limits<int64_t>::min());
    reader.boolean("keep_values", keep);
    reader.integers_by_name("dim", dims);
    reader.integers_by_name("denotation", denotations);
    TN_RETURN_IF_ERROR(reader.finish());
    settings.seed = static_cast<uint64_t>(seed);
    settings.pool = api::context_or_default(context).pool();

    auto compiled = compile(model->model->graph, compile_options);
    if (!compiled.ok()) return std::move(compiled).status().in(model->model->path);
    TN_ASSIGN_OR_RETURN(auto sources, source_bytes(*compiled, model->model,
                                                   options ? options->weights : std::map<std::string, Value>()));
    if (!denotations.empty()) add_denoted(*model->model, denotations, dims);
    if (!dims.empty() || keep) {
      auto changed = std::make_shared<Program>(*compiled->program);
      fix_dims(changed->plan, dims);
      if (keep) keep_values(changed->plan);
      compiled->program = std::move(changed);
    }
    TN_ASSIGN_OR_RETURN(auto made, Session::make(compiled->program, std::move(sources), settings));
    *session = api::make_session_handle(std::move(made));
    use_declared_names(*model->model, **session);
    return {};
  });
}

}  // extern "C"
