// What two ways of computing a model may differ by.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/model_handle.h"
#include "api/tolerances_json.h"
#include "compiler/tolerance/tolerance.h"

using namespace tenon;

namespace {

// Outputs have names of their own; all other values have those of the file.
std::optional<ValueId> find_value(const Graph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    if (graph.output_names()[i] == name && graph.outputs()[i] != kNone) return graph.outputs()[i];
  for (size_t v = 0; v < graph.value_count(); ++v)
    if (graph.value(ValueId(v)).name == name) return ValueId(v);
  return std::nullopt;
}

}  // namespace

nlohmann::json api::describe_tolerances(const Graph& graph) {
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const ValueTolerance tolerance =
        graph.outputs()[i] == kNone ? ValueTolerance() : tolerance_of(graph, graph.outputs()[i]);
    nlohmann::json entry = {{"name", graph.output_names()[i]}, {"share", tolerance.share}, {"steps", tolerance.steps}};
    if (tolerance.choice) entry["chosen_from"] = graph.value(tolerance.choice->from).name;
    list.push_back(std::move(entry));
  }
  return list;
}

extern "C" tn_status* tn_model_compare(const tn_model* model, const char* name, const tn_value* actual,
                                       const tn_value* expected, const tn_value* chosen_from,
                                       tn_comparison* comparison) {
  return api::guarded([&]() -> Status {
    if (!model || !name || !actual || !expected || !comparison)
      return invalid_argument("model, name, values and comparison must not be NULL");
    TN_RETURN_IF_ERROR(api::check_size(*comparison));
    const Graph& graph = model->model->graph;
    const auto value = find_value(graph, name);
    if (!value) return error(Code::NotFound, "the model has no value named '{}'", name);
    const JudgedComparison judged = compare_within(tolerance_of(graph, *value), actual->value, expected->value,
                                                   chosen_from ? chosen_from->value.tensor() : nullptr);
    api::fill(judged.comparison, judged.ties, *comparison);
    return {};
  });
}
