// The names of symbolic dimensions, as the model spells them.
#include <set>

#include "api/model_handle.h"

using namespace tenon;

namespace {

void name_extents(const wire::ValueInfo& declared, tn_type& type) {
  const auto& shape = declared.type.shape;
  if (!shape || !type.type.shape || shape->size() != type.dim_texts.size()) return;
  for (size_t d = 0; d < shape->size(); ++d) {
    const auto& name = (*shape)[d].param;
    if (name && !name->empty() && !(*type.type.shape)[d].is_constant())
      type.dim_texts[d] = type.dim_names[d] = std::string(*name);
  }
}

void collect_names(const tn_type& type, std::set<std::string>& names) {
  names.insert(type.dim_names.begin(), type.dim_names.end());
  if (type.element) collect_names(*type.element, names);
}

void collect_symbols(const Type& type, std::vector<std::string>& symbols) {
  if (type.shape)
    for (const Dim& d : *type.shape) d.collect_symbols(symbols);
  if (type.element) collect_symbols(*type.element, symbols);
}

}  // namespace

void api::use_declared_names(const ImportedModel& model, const std::vector<std::unique_ptr<tn_type>>& inputs,
                             const std::vector<std::unique_ptr<tn_type>>& outputs) {
  std::map<std::string_view, const wire::ValueInfo*> declared;
  for (const wire::ValueInfo& input : model.wire.graph.inputs) declared.emplace(input.name, &input);
  for (size_t i = 0; i < inputs.size() && i < model.graph.inputs.size(); ++i) {
    auto it = declared.find(model.graph.value(model.graph.inputs[i].value).name);
    if (it != declared.end()) name_extents(*it->second, *inputs[i]);
  }
  for (size_t i = 0; i < outputs.size() && i < model.wire.graph.outputs.size(); ++i)
    name_extents(model.wire.graph.outputs[i], *outputs[i]);
}

Status api::check_dim_names(const tn_model& model, const std::map<std::string, int64_t>& dims) {
  if (dims.empty()) return {};
  std::vector<std::string> symbols;
  for (const GraphValue& value : model.model->graph.values()) collect_symbols(value.type, symbols);
  const std::set<std::string> known(symbols.begin(), symbols.end());
  for (const auto& [name, extent] : dims) {
    if (known.contains(name)) continue;
    std::set<std::string> names;
    for (const auto& type : model.input_types) collect_names(*type, names);
    names.erase("");
    const std::string near = nearest(name, {names.begin(), names.end()});
    std::string listed;
    for (const std::string& n : names) listed += (listed.empty() ? "'" : ", '") + n + "'";
    return invalid_argument("the model has no dimension named '{}'{}{}", name,
                            listed.empty() ? "; its inputs have no named dimensions" : "; its inputs have " + listed,
                            near.empty() ? "" : "; did you mean '" + near + "'?");
  }
  return {};
}
