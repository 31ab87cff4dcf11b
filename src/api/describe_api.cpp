// What is in a model, as JSON.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "api/model_handle.h"
#include "api/tolerances_json.h"
#include "build/json.h"
#include "build/model_html.h"
#include "compiler/compile.h"
#include "executor/step_variant.h"
#include "ops/unsupported.h"
#include "plan/context_model.h"

using namespace tenon;
using nlohmann::json;

namespace {

std::string value_name(const Graph& graph, ValueId v) {
  if (v == kNone) return "";
  const std::string& name = graph.value(v).name;
  return name.empty() ? "%" + std::to_string(v.index()) : name;
}

// "Conv", or the op's own name for one that Tenon does not know.
std::string op_text(const GraphNode& node) {
  if (node.op != OpId::Unsupported) return std::string(op_def(node.op).name);
  const auto& p = node.params.get<UnsupportedParams>();
  return (p.domain.empty() ? "" : p.domain + ".") + p.op_type;
}

json typed(const Graph& graph, ValueId v, const std::string& name) {
  return {{"name", name}, {"type", graph.value(v).type.to_string()}};
}

json describe_graph(const Graph& graph) {
  json nodes = json::array();
  for (const GraphNode& node : graph.nodes()) {
    json inputs = json::array(), outputs = json::array();
    for (ValueId v : node.inputs) inputs.push_back(value_name(graph, v));
    for (ValueId v : node.outputs)
      outputs.push_back(v == kNone ? json(nullptr) : typed(graph, v, value_name(graph, v)));
    json entry = {{"name", node.name}, {"op", op_text(node)}, {"inputs", inputs}, {"outputs", outputs}};
    const std::string params = params_text(node.op, node.params);
    if (!params.empty()) entry["params"] = params;
    for (const auto& body : node.bodies) entry["bodies"].push_back(describe_graph(*body));
    nodes.push_back(std::move(entry));
  }
  json inputs = json::array(), outputs = json::array();
  for (const GraphInput& input : graph.inputs)
    inputs.push_back(typed(graph, input.value, value_name(graph, input.value)));
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    outputs.push_back(typed(graph, graph.outputs()[i], graph.output_names()[i]));
  return {{"inputs", inputs}, {"outputs", outputs}, {"nodes", nodes}};
}

void count_ops(const Graph& graph, std::map<std::string, int>& counts, std::set<std::string>& unknown) {
  for (const GraphNode& node : graph.nodes()) {
    ++counts[op_text(node)];
    if (node.op == OpId::Unsupported) unknown.insert(op_text(node));
    for (const auto& body : node.bodies) count_ops(*body, counts, unknown);
  }
}

Result<json> describe_weights(const Graph& graph, const ModelContent* hashes = nullptr) {
  json weights = json::array();
  for (const Constant& c : *graph.constants) {
    if (c.source.empty()) continue;
    const Shape shape(c.dims.begin(), c.dims.end());
    const Dim count = element_count(shape);
    weights.push_back({{"name", c.source},
                       {"dtype", dtype_name(c.dtype)},
                       {"shape", c.dims},
                       {"bytes", count.is_invalid() ? 0 : storage_bytes(c.dtype, count.value()).value_or(0)}});
    if (!hashes) continue;
    TN_ASSIGN_OR_RETURN(const Hash128 hash, hashes->of(c));
    weights.back()["hash"] = hash.hex();
  }
  return weights;
}

json describe_plan(const Plan& plan) {
  auto value = [&](PlanValueId v) -> json {
    if (v == kNoValue) return nullptr;
    const PlanValue& p = plan.values[static_cast<size_t>(v)];
    const std::string place = p.storage == Storage::Slot    ? "slot " + std::to_string(p.slot)
                              : p.storage == Storage::Boxed ? "boxed"
                                                            : "arena";
    json described = {{"id", v}, {"name", p.name}, {"type", p.type.to_string()}, {"storage", place}};
    if (!p.layout.is_plain()) described["layout"] = layout_text(p.layout);
    return described;
  };
  json steps = json::array();
  for (const Step& step : plan.steps) {
    json inputs = json::array(), outputs = json::array();
    for (PlanValueId v : step.inputs) inputs.push_back(value(v));
    for (PlanValueId v : step.outputs) outputs.push_back(value(v));
    json entry = {{"kernel", step.family}, {"node", step.origin}, {"inputs", inputs}, {"outputs", outputs}};
    const StepVariant variant = variant_of(plan, step, usable_isas().front());
    entry["variant"] = variant.name;
    for (const Refusal& refusal : variant.refusals)
      entry["refused"].push_back({{"variant", refusal.variant}, {"reason", refusal.reason}});
    for (const auto& body : step.bodies) entry["bodies"].push_back(describe_plan(*body));
    steps.push_back(std::move(entry));
  }
  json late = json::array();
  for (const LateDim& dim : plan.late_dims) late.push_back(dim.symbol);
  return {{"values", plan.values.size()}, {"steps", steps}, {"late_dims", std::move(late)}};
}

// Each once, in order.
json describe_misses(const std::vector<Miss>& misses) {
  json list = json::array();
  std::set<std::tuple<std::string_view, std::string, std::string>> seen;
  for (const Miss& miss : misses)
    if (seen.emplace(miss.rule, miss.root, miss.reason).second)
      list.push_back({{"node", miss.root}, {"claim", miss.rule}, {"reason", miss.reason}});
  return list;
}

json describe_summary(const ImportedModel& model) {
  const Graph& graph = model.graph;
  json opsets = json::object();
  for (const wire::OpsetImport& o : model.wire.opsets)
    opsets[o.domain.empty() ? "ai.onnx" : std::string(o.domain)] = o.version;
  json inputs = json::array(), outputs = json::array(), metadata = json::object();
  for (const GraphInput& input : graph.inputs) {
    json entry = typed(graph, input.value, value_name(graph, input.value));
    if (input.default_constant != kNone) entry["default"] = true;
    inputs.push_back(std::move(entry));
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    outputs.push_back(typed(graph, graph.outputs()[i], graph.output_names()[i]));
  for (const wire::StringEntry& e : model.wire.metadata) metadata[std::string(e.key)] = std::string(e.value);
  int64_t bytes = 0;
  const json weights = *describe_weights(graph);
  for (const json& w : weights) bytes += w["bytes"].get<int64_t>();
  std::map<std::string, int> counts;
  std::set<std::string> unknown;
  count_ops(graph, counts, unknown);
  return {{"path", model.path},
          {"compiled", is_context_model(model.wire)},
          {"ir_version", model.wire.ir_version},
          {"opsets", opsets},
          {"producer", std::string(model.wire.producer_name)},
          {"producer_version", std::string(model.wire.producer_version)},
          {"graph", graph.name},
          {"inputs", inputs},
          {"outputs", outputs},
          {"nodes", graph.node_count()},
          {"functions", model.wire.functions.size()},
          {"weights", {{"count", weights.size()}, {"bytes", bytes}}},
          {"metadata", metadata},
          {"unknown_ops", unknown},
          {"warnings", model.warnings}};
}

}  // namespace

extern "C" {

tn_status* tn_model_describe(const tn_model* handle, const char* sections, char** text) {
  return api::guarded([&]() -> Status {
    if (!handle || !text) return invalid_argument("model and json must not be NULL");
    const ImportedModel& model = *handle->model;
    json result = json::object();
    std::string_view rest = sections ? sections : "summary";
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      const std::string_view section = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
      if (section == "summary") {
        result["summary"] = describe_summary(model);
      } else if (section == "content") {
        result["content"] = handle->content->of_file().hex();
      } else if (section == "unchanged") {
        result["unchanged"] = handle->content->is_unchanged();
      } else if (section == "graph") {
        result["graph"] = describe_graph(model.graph);
      } else if (section == "ops") {
        std::map<std::string, int> counts;
        std::set<std::string> unknown;
        count_ops(model.graph, counts, unknown);
        result["ops"] = counts;
      } else if (section == "weights") {
        TN_ASSIGN_OR_RETURN(result["weights"], describe_weights(model.graph));
      } else if (section == "hashed_weights") {
        TN_ASSIGN_OR_RETURN(result["weights"], describe_weights(model.graph, handle->content.get()));
      } else if (section == "plan") {
        TN_ASSIGN_OR_RETURN(CompiledModel compiled, compile(model.graph, {}));
        result["plan"] = describe_plan(compiled.program->plan);
        result["plan"]["misses"] = describe_misses(compiled.misses);
      } else if (section == "tolerances") {
        result["tolerances"] = api::describe_tolerances(model.graph);
      } else {
        return invalid_argument(
            "unknown section '{}'; it must be summary, content, unchanged, graph, ops, weights, hashed_weights, "
            "plan or tolerances",
            section);
      }
    }
    // Names in a file need not be UTF-8; what cannot be shown is replaced.
    *text = api::copy_text(result.dump(2, ' ', false, json::error_handler_t::replace));
    return {};
  });
}

tn_status* tn_model_html(const char* title, const char* description, char** html) {
  return api::guarded([&]() -> Status {
    if (!title || !description || !html) return invalid_argument("title, description and html must not be NULL");
    const build::Json parsed = build::Json::parse(description, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("graph"))
      return invalid_argument("this is not the description of a model with the section graph");
    *html = api::copy_text(build::model_html(title, parsed));
    return {};
  });
}

}  // extern "C"
