#include "api/model_handle.h"
#include "compiler/compile.h"

using namespace tenon;

namespace {

// New tensors for named initializers, which must keep their element type and shape.
Status replace_weights(CompiledModel& compiled, const std::map<std::string, Value>& weights) {
  for (const auto& [name, value] : weights) {
    const Tensor& given = *value.tensor();
    bool found = false;
    for (size_t i = 0; i < compiled.program->sources.size(); ++i) {
      const SourceInfo& source = compiled.program->sources[i];
      if (source.name != name) continue;
      found = true;
      if (source.dtype != given.dtype() || source.dims != given.dims())
        return invalid_argument("the weight '{}' is {}{}, the tensor given for it is {}{}", name,
                                dtype_name(source.dtype), shape_text(to_shape(source.dims)), dtype_name(given.dtype()),
                                shape_text(to_shape(given.dims())));
      compiled.slots[i] = given;
    }
    if (!found) return error(Code::NotFound, "the model has no weight called '{}'", name);
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
    if (context) settings.limits = context->limits;
    std::string provider = "reference";
    std::map<std::string, int64_t> dims, denotations;
    int64_t seed = 0;
    bool keep = false;
    api::OptionReader reader(options);
    reader.text("provider", provider);
    reader.integer("memory_limit", settings.limits.memory_bytes, 1);
    reader.integer("loop_limit", settings.limits.loop_iterations, 1);
    reader.integer("cached_bindings", settings.limits.cached_bindings, 1);
    reader.integer("seed", seed, std::numeric_limits<int64_t>::min());
    reader.boolean("keep_values", keep);
    reader.integers_by_name("dim", dims);
    reader.integers_by_name("denotation", denotations);
    TN_RETURN_IF_ERROR(reader.finish());
    if (provider != "reference") return invalid_argument("there is no provider '{}'; there is: reference", provider);
    settings.seed = static_cast<uint64_t>(seed);
    TN_RETURN_IF_ERROR(api::check_dim_names(*model, dims));

    auto compiled = compile_reference(model->model->graph);
    if (!compiled.ok()) return std::move(compiled).status().in(model->model->path);
    if (options) TN_RETURN_IF_ERROR(replace_weights(*compiled, options->weights));
    if (!denotations.empty()) add_denoted(*model->model, denotations, dims);
    if (!dims.empty() || keep) {
      auto changed = std::make_shared<Program>(*compiled->program);
      fix_dims(changed->plan, dims);
      if (keep) keep_values(changed->plan);
      compiled->program = std::move(changed);
    }
    TN_ASSIGN_OR_RETURN(auto made, Session::make(compiled->program, std::move(compiled->slots), settings));
    *session = api::make_session_handle(std::move(made));
    api::use_declared_names(*model->model, (*session)->input_types, (*session)->output_types);
    return {};
  });
}

}  // extern "C"
