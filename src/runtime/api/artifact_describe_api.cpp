// What is in an artifact, and what swaps did, as JSON.
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "executor/step_variant.h"
#include "plan/fixed_sources.h"
#include "plan/keys.h"
#include "plan/property.h"
#include "runtime/api/artifact_handles.h"

using namespace tenon;
using nlohmann::json;

namespace tenon::api {

namespace {

json to_json(const std::optional<RecompileReport>& r) {
  if (!r) return nullptr;
  json guards = json::array();
  for (const BrokenGuard& g : r->guards)
    guards.push_back(
        {{"weight", g.weight}, {"asker", g.asker}, {"property", g.property}, {"before", g.before}, {"after", g.after}});
  return {{"guards", guards}, {"seconds", r->seconds}};
}

json to_json(const SwapReport& r) {
  return {{"replaced", r.replaced},
          {"kept", r.kept},
          {"ignored", r.ignored},
          {"open", r.open},
          {"not_finite", r.not_finite},
          {"warnings", r.warnings},
          {"slots", r.slots},
          {"slots_redone", r.slots_redone},
          {"bytes_redone", r.bytes_redone},
          {"seconds", r.seconds},
          {"recompiled", to_json(r.recompiled)}};
}

}  // namespace

std::string reports_json(const std::vector<SwapReport>& reports, bool as_list) {
  json result = json::array();
  for (const SwapReport& report : reports) result.push_back(to_json(report));
  return (as_list ? result : result[0]).dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace tenon::api

namespace {

int64_t bytes_of(DType dtype, const std::vector<int64_t>& dims) {
  return storage_bytes(dtype, count_of(dims)).value_or(0);
}

json typed(const Plan& plan, PlanValueId value, const std::string& name) {
  return {{"name", name},
          {"type", value == kNoValue ? std::string("-") : plan.values[static_cast<size_t>(value)].type.to_string()}};
}

json describe_inputs(const Plan& plan) {
  json inputs = json::array();
  for (const PlanInput& input : plan.inputs) {
    inputs.push_back(typed(plan, input.value, plan.values[static_cast<size_t>(input.value)].name));
    if (input.default_slot >= 0) inputs.back()["default"] = true;
  }
  return inputs;
}

json describe_outputs(const Plan& plan) {
  json outputs = json::array();
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    outputs.push_back(typed(plan, plan.outputs[i], plan.output_names[i]));
  return outputs;
}

json describe_models(const Image& image) {
  const ArtifactContents& contents = image.contents();
  json models = json::array();
  for (size_t m = 0; m < contents.models.size(); ++m) {
    const ModelRecord& model = contents.models[m];
    int64_t packed = 0;
    size_t open = 0;
    std::set<int32_t> counted;  // slots may share one packed tensor
    for (const int32_t slot : model.slots) {
      open += slot < 0;
      if (slot < 0 || !counted.insert(slot).second) continue;
      const PackedRecord& record = contents.packed[static_cast<size_t>(slot)];
      packed += bytes_of(record.dtype, record.dims);
    }
    models.push_back({{"name", model.name},
                      {"inputs", describe_inputs(model.program->plan)},
                      {"outputs", describe_outputs(model.program->plan)},
                      {"plan_key", model.plan_key.hex()},
                      {"source_file", image.source_file(m)},
                      {"source_content", model.source_content.hex()},
                      {"made_from", model.made_from.hex()},
                      {"seconds_spent", image.seconds_spent(m)},
                      {"steps", model.program->plan.steps.size()},
                      {"slots", model.slots.size()},
                      {"open_slots", open},
                      {"sources", model.sources.size()},
                      {"guards", std::ranges::count_if(model.program->guards,
                                                       [](const Guard& g) { return g.property != kLiteral; })},
                      {"packed_bytes", packed}});
  }
  return models;
}

// A constant without a name by its value, when that is short: "1e-05", "[0, 2]", "2 as float[20]".
template <class T>
std::string literal_text(const Tensor& tensor, const std::string& type) {
  constexpr int64_t kShown = 6;
  const auto values = tensor.as<T>();
  if (tensor.dims().empty()) return fmt::format("{}", values[0]);
  if (tensor.size() <= kShown && tensor.dims().size() == 1) return fmt::format("[{}]", fmt::join(values, ", "));
  const bool same = std::ranges::all_of(values, [&](T value) { return value == values[0]; });
  return same && tensor.size() > 0 ? fmt::format("{} as {}", values[0], type) : type;
}

// "PackPanels(Mul(w, s), ...)" of a plan's output, read from the inside out.
class ExpressionText {
 public:
  ExpressionText(const Image& image, const ModelRecord& model, const WeightEntry& entry)
      : image_(image), model_(model), program_(*model.program), entry_(entry) {}

  std::string text() const {
    if (!entry_.expression) return source(0);
    return value(entry_.expression->outputs[0]);
  }

 private:
  std::string source(size_t i) const {
    const auto id = static_cast<size_t>(entry_.sources[i]);
    const SourceInfo& info = program_.sources[id];
    if (!info.name.empty()) return info.name;
    std::string type = fmt::format("{}{}", dtype_name(info.dtype), shape_text(to_shape(info.dims)));
    const auto tensor = image_.source(static_cast<size_t>(model_.sources[id]));
    if (tensor.ok() && info.dtype == DType::Float32) return literal_text<float>(*tensor, type);
    if (tensor.ok() && info.dtype == DType::Int64) return literal_text<int64_t>(*tensor, type);
    return type;
  }
  std::string value(PlanValueId v) const {
    const Plan& plan = *entry_.expression;
    for (size_t i = 0; i < plan.inputs.size(); ++i)
      if (plan.inputs[i].value == v) return source(i);
    for (const Step& step : plan.steps) {
      const auto at = std::ranges::find(step.outputs, v);
      if (at == step.outputs.end()) continue;
      std::string text = std::string(op_def(step.op).name) + "(";
      for (size_t i = 0; i < step.inputs.size(); ++i)
        text += (i ? ", " : "") + (step.inputs[i] == kNoValue ? "-" : value(step.inputs[i]));
      const std::string params = params_text(step.op, step.params);
      return text + (params.empty() ? ")" : "; " + params + ")");
    }
    return "?";
  }

  const Image& image_;
  const ModelRecord& model_;
  const Program& program_;
  const WeightEntry& entry_;
};

// The steps that read each slot, by name.
void add_users(const Plan& plan, std::vector<std::vector<std::string>>& users) {
  for (const Step& step : plan.steps) {
    for (const PlanValueId v : step.inputs) {
      if (v == kNoValue || plan.values[static_cast<size_t>(v)].storage != Storage::Slot) continue;
      users[static_cast<size_t>(plan.values[static_cast<size_t>(v)].slot)].push_back(
          fmt::format("{} ({})", step.origin, step.family));
    }
    for (const auto& body : step.bodies) add_users(*body, users);
  }
  for (const PlanInput& input : plan.inputs)
    if (input.default_slot >= 0)
      users[static_cast<size_t>(input.default_slot)].push_back(
          "the default of input '" + plan.values[static_cast<size_t>(input.value)].name + "'");
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const PlanValueId v = plan.outputs[i];
    if (v != kNoValue && plan.values[static_cast<size_t>(v)].storage == Storage::Slot)
      users[static_cast<size_t>(plan.values[static_cast<size_t>(v)].slot)].push_back("output '" + plan.output_names[i] +
                                                                                     "'");
  }
}

json describe_guards(const Program& program, const std::vector<int32_t>& sources) {
  json guards = json::array();
  for (const Guard& guard : program.guards)
    if (guard.property != kLiteral && std::ranges::find(sources, guard.source) != sources.end())
      guards.push_back({{"source", program.sources[static_cast<size_t>(guard.source)].name},
                        {"asker", guard.asker},
                        {"property", guard.property},
                        {"answer", property_from_text(guard.property)->is_about_elements() ? "" : guard.answer}});
  return guards;
}

// The key of a packed tensor; null for a slot that is open.
json packed_key_of(const ArtifactContents& contents, int32_t packed) {
  return packed < 0 ? json() : json(contents.packed[static_cast<size_t>(packed)].key.hex());
}

// Of literals "".
json source_names(const Program& program, const WeightEntry& entry) {
  json names = json::array();
  for (const int32_t id : entry.sources) names.push_back(program.sources[static_cast<size_t>(id)].name);
  return names;
}

json describe_weight_program(const Image& image, const ModelRecord& model) {
  const Program& program = *model.program;
  std::vector<std::vector<std::string>> users(program.weight_program.size());
  add_users(program.plan, users);
  json entries = json::array();
  for (size_t slot = 0; slot < program.weight_program.size(); ++slot) {
    const WeightEntry& entry = program.weight_program[slot];
    entries.push_back({{"slot", slot},
                       {"expression", ExpressionText(image, model, entry).text()},
                       {"layout", entry.layout},
                       {"packed", packed_key_of(image.contents(), model.slots[slot])},
                       {"sources", source_names(program, entry)},
                       {"guards", describe_guards(program, entry.sources)},
                       {"users", users[slot]}});
  }
  return {{"model", model.name}, {"slots", std::move(entries)}};
}

json describe_packed(const Image& image) {
  const ArtifactContents& contents = image.contents();
  std::vector<json> packed;
  for (const PackedRecord& record : contents.packed)
    packed.push_back({{"key", record.key.hex()},
                      {"dtype", dtype_name(record.dtype)},
                      {"shape", record.dims},
                      {"layout", record.layout},
                      {"content", record.content == Hash128() ? json() : json(record.content.hex())},
                      {"bytes", bytes_of(record.dtype, record.dims)},
                      {"models", json::array()},
                      {"sources", json::array()},
                      {"expression", ""}});
  for (const ModelRecord& model : contents.models)
    for (size_t slot = 0; slot < model.slots.size(); ++slot) {
      if (model.slots[slot] < 0) continue;
      json& entry = packed[static_cast<size_t>(model.slots[slot])];
      if (entry["models"].empty() || entry["models"].back() != model.name) entry["models"].push_back(model.name);
      const WeightEntry& weight = model.program->weight_program[slot];
      if (entry["expression"].get_ref<const std::string&>().empty())
        entry["expression"] = ExpressionText(image, model, weight).text();
      if (entry["sources"].empty()) entry["sources"] = source_names(*model.program, weight);
    }
  return packed;
}

json describe_sources(const ArtifactContents& contents) {
  constexpr const char* kPlaces[] = {"absent", "file", "packed", "embedded"};
  std::vector<json> sources;
  for (const SourceRecord& record : contents.sources)
    sources.push_back({{"name", record.info.name},
                       {"dtype", dtype_name(record.info.dtype)},
                       {"shape", record.info.dims},
                       {"bytes", bytes_of(record.info.dtype, record.info.dims)},
                       {"hash", record.content.hex()},
                       {"place", kPlaces[static_cast<size_t>(record.place)]},
                       {"file", record.file},
                       {"models", json::array()},
                       {"packed", 0},
                       {"swappable", true},
                       {"guards", json::array()}});
  for (const ModelRecord& model : contents.models) {
    const Program& program = *model.program;
    const std::vector<bool> fixed = fixed_sources(program);
    for (size_t i = 0; i < model.sources.size(); ++i) {
      json& entry = sources[static_cast<size_t>(model.sources[i])];
      entry["models"].push_back(model.name);
      const auto id = static_cast<int32_t>(i);
      for (const WeightEntry& w : program.weight_program)
        if (std::ranges::find(w.sources, id) != w.sources.end()) entry["packed"] = entry["packed"].get<int>() + 1;
      for (json& guard : describe_guards(program, {id})) entry["guards"].push_back(std::move(guard));
      if (fixed[i]) entry["swappable"] = false;
    }
  }
  return sources;
}

json describe_plan(const ModelRecord& model) {
  const Plan& plan = model.program->plan;
  json steps = json::array();
  for (const Step& step : plan.steps) {
    const StepVariant variant = variant_of(plan, step, usable_isas().front());
    steps.push_back({{"node", step.origin},
                     {"kernel", step.family},
                     {"variant", variant.name},
                     {"params", params_text(step.op, step.params)}});
    for (const Refusal& refusal : variant.refusals)
      steps.back()["refused"].push_back({{"variant", refusal.variant}, {"reason", refusal.reason}});
  }
  json late = json::array();
  for (const LateDim& dim : plan.late_dims) late.push_back(dim.symbol);
  return {{"model", model.name}, {"steps", std::move(steps)}, {"late_dims", std::move(late)}};
}

Status add_section(const Image& image, std::string_view section, json& result) {
  const ArtifactContents& contents = image.contents();
  if (section == "models") {
    result["models"] = describe_models(image);
  } else if (section == "packed") {
    result["packed"] = describe_packed(image);
  } else if (section == "sources") {
    result["sources"] = describe_sources(contents);
  } else if (section == "weight_program") {
    for (const ModelRecord& model : contents.models)
      result["weight_program"].push_back(describe_weight_program(image, model));
  } else if (section == "plan") {
    for (const ModelRecord& model : contents.models) result["plan"].push_back(describe_plan(model));
  } else {
    return invalid_argument("unknown section '{}'; it must be models, packed, sources, weight_program or plan",
                            section);
  }
  return {};
}

}  // namespace

extern "C" tn_status* tn_artifact_describe(const tn_artifact* artifact, const char* sections, char** text) {
  return api::guarded([&]() -> Status {
    if (!artifact || !text) return invalid_argument("artifact and json must not be NULL");
    const ArtifactContents& contents = artifact->image->contents();
    json result = {{"made_by", contents.made_by}};
    std::string_view rest = sections ? sections : "models";
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      TN_RETURN_IF_ERROR(add_section(*artifact->image, rest.substr(0, comma), result));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    *text = api::copy_text(result.dump(2, ' ', false, json::error_handler_t::replace));
    return {};
  });
}
