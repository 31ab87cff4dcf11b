// A call of a model-local function is replaced by what the function does.
#include <algorithm>

#include "onnx/graph_importer.h"
#include "onnx/model_header.h"
#include "weights/source_names.h"

namespace tenon {

namespace {

// Trailing absent ones are the same as none.
size_t count_given(const std::vector<wire::Bytes>& names) {
  size_t count = names.size();
  while (count > 0 && names[count - 1].empty()) --count;
  return count;
}

Status check_arity(const wire::Node& node, const wire::Function& function) {
  if (const size_t given = count_given(node.inputs); given > function.inputs.size())
    return invalid_model("the function takes at most {} inputs, but {} are given", function.inputs.size(), given);
  if (const size_t named = count_given(node.outputs); named > function.outputs.size())
    return invalid_model("the function has {} outputs, but {} are named", function.outputs.size(), named);
  return {};
}

// What the function's attribute references mean; outer: the call that the calling node is part of, or null.
FunctionCall make_call(const wire::Node& node, const wire::Function& function, const FunctionCall* outer) {
  FunctionCall call;
  call.function = &function;
  for (const wire::Attribute& a : function.attribute_defaults) call.attributes[a.name] = &a;
  for (const wire::Attribute& a : node.attributes) {
    const wire::Attribute* given = &a;
    if (!a.ref_attr_name.empty()) {
      // A reference in the caller's own body: what that call was given.
      if (!outer) continue;
      const auto it = outer->attributes.find(a.ref_attr_name);
      if (it == outer->attributes.end()) continue;
      given = it->second;
    }
    call.attributes[a.name] = given;
  }
  return call;
}

}  // namespace

Status GraphImporter::import_call(const wire::Node& node, const wire::Function& function) {
  const std::string place = fmt::format("function '{}' called by node '{}'", function.name, readable_name(node));
  if (std::ranges::count(model_.calls, &function)) return invalid_model("the function is recursive").in(place);
  if (++model_.depth > model_.options.parse.max_nesting)
    return error(Code::ResourceLimit, "function calls are nested more than {} levels deep (option 'max_nesting')",
                 model_.options.parse.max_nesting)
        .in(place);
  TN_RETURN_IF_ERROR(check_arity(node, function).in(place));
  model_.calls.push_back(&function);
  const FunctionCall call = make_call(node, function, call_);
  auto opsets = read_opsets(function.opsets, model_);
  if (!opsets.ok()) return std::move(opsets).status().in(place);
  for (const auto& [domain, version] : opsets_) opsets->emplace(domain, version);

  GraphImporter inner(model_, graph_, nullptr, *opsets, &call);
  Group group;
  group.wire = &node;
  group.call = call_group_;
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    ValueId v = kNone;
    if (i < node.inputs.size() && !node.inputs[i].empty()) {
      v = lookup(node.inputs[i]);
      if (v == kNone) return invalid_model("input '{}' is not defined", node.inputs[i]).in(place);
    }
    inner.names_.emplace(std::string(function.inputs[i]), v);
    if (i < node.inputs.size()) group.slots.push_back(v);
  }
  group.results.assign(node.outputs.size(), kNone);
  const GroupId group_id = inner.call_group_ = graph_.add_group(std::move(group));
  TN_RETURN_IF_ERROR(inner.import_nodes(function.nodes).in(place));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const ValueId v = inner.lookup(function.outputs[i]);
    if (v == kNone) return invalid_model("the output '{}' is not produced", function.outputs[i]).in(place);
    graph_.group(group_id).results[i] = v;
    TN_RETURN_IF_ERROR(define(node.outputs[i], v).in(place));
  }
  model_.calls.pop_back();
  --model_.depth;
  return {};
}

}  // namespace tenon
