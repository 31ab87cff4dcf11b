// What the normal form asks of a file beyond its nodes: nothing unread, no large Constant nodes, types of all values.
#include <algorithm>

#include "onnx/graph_exporter.h"
#include "onnx/references.h"

namespace tenon {

namespace {

bool is_contradicted(const std::vector<wire::DimensionProto>& declared,
                     const std::vector<wire::DimensionProto>& known) {
  if (declared.size() != known.size()) return true;
  for (size_t i = 0; i < known.size(); ++i)
    if (known[i].value && declared[i].value && *declared[i].value >= 0 && declared[i].value != known[i].value)
      return true;
  return false;
}

// Fills in what a declaration leaves open, and what it says wrongly. False when it says everything already.
bool sharpen_declared(wire::TypeProto& declared, const wire::TypeProto& known) {
  if (known.kind == wire::TypeProto::Kind::None) return false;
  if (declared.kind != known.kind || (known.elem_type != 0 && declared.elem_type != known.elem_type)) {
    declared = known;
    return true;
  }
  bool changed = false;
  if (known.element && declared.element) {
    // Messages share their parts.
    declared.element = std::make_shared<wire::TypeProto>(*declared.element);
    changed = sharpen_declared(*declared.element, *known.element);
  }
  if (known.shape) {
    // Nothing of a wrong declaration was believed when the model was read, so nothing of it stays to be believed.
    if (!declared.shape || is_contradicted(*declared.shape, *known.shape)) {
      declared.shape = known.shape;
      changed = true;
    }
    for (size_t i = 0; i < known.shape->size(); ++i) {
      wire::DimensionProto& extent = (*declared.shape)[i];
      const wire::DimensionProto& fact = (*known.shape)[i];
      const bool is_open = !(extent.value && *extent.value >= 0) && !(extent.param && !extent.param->empty());
      const bool is_other = fact.value && extent.value != fact.value;
      if ((!fact.value && !fact.param) || (!is_open && !is_other)) continue;
      extent.value = fact.value;
      extent.param = fact.param;
      changed = true;
    }
  }
  if (changed) declared.raw = {};
  return changed;
}

bool is_worth_declaring(const Type& type) {
  return type.kind != Type::Kind::Unknown && (!type.is_tensor() || type.dtype != DType::Undefined) &&
         (type.kind == Type::Kind::Tensor || (type.element && is_worth_declaring(*type.element)));
}

size_t bytes_of(const wire::TensorProto& tensor) {
  return tensor.raw_data ? tensor.raw_data->size() : tensor.raw.size();
}

}  // namespace

// A name that nodes read, or that leaves the graph.
void GraphExporter::remove_unread_initializers(wire::Graph& out) {
  std::set<std::string_view> read;
  for (const wire::Node& node : nodes_)
    for (std::string_view name : references_of(node)) read.insert(name);
  for (const auto* infos : {&out.outputs, &out.inputs})
    for (const wire::ValueInfo& info : *infos) read.insert(info.name);
  std::erase_if(out.initializers, [&](const wire::TensorProto& tensor) { return !read.contains(tensor.name); });
  std::erase_if(out.sparse_initializers,
                [&](const wire::SparseTensorProto& tensor) { return !read.contains(tensor.values.name); });
}

// Before version 4 of the format, an initializer is an input as well.
void GraphExporter::lift_large_constants(wire::Graph& out) {
  constexpr int64_t kInitializersAlone = 4;
  if (model_.model.wire.ir_version < kInitializersAlone) return;
  std::erase_if(nodes_, [&](const wire::Node& node) {
    if (node.op_type != "Constant" || !(node.domain.empty() || node.domain == "ai.onnx") || node.outputs.size() != 1)
      return false;
    if (node.attributes.size() != 1 || node.attributes[0].type != wire::AttributeType::Tensor) return false;
    const wire::TensorProto& value = node.attributes[0].tensors.at(0);
    if (!value.is_external && bytes_of(value) <= static_cast<size_t>(kMostAskedBytes)) return false;
    wire::TensorProto initializer = value;
    initializer.raw = {};
    initializer.name = node.outputs[0];
    out.initializers.push_back(std::move(initializer));
    return true;
  });
}

void GraphExporter::declare_types(wire::Graph& out) {
  std::unordered_map<std::string_view, size_t> declared;
  for (size_t i = 0; i < out.value_infos.size(); ++i) declared.emplace(out.value_infos[i].name, i);
  std::set<std::string_view> elsewhere;
  for (const auto* infos : {&out.outputs, &out.inputs})
    for (const wire::ValueInfo& info : *infos) elsewhere.insert(info.name);
  ExportMemory& memory = model_.exported.memory;
  for (const auto& [name, v] : written_) {
    const Type& type = graph_.value(v).type;
    if (elsewhere.contains(name) || !is_worth_declaring(type)) continue;
    const wire::TypeProto known = memory.make_type(type);
    if (const auto it = declared.find(name); it != declared.end()) {
      wire::ValueInfo& info = out.value_infos[it->second];
      if (!sharpen_declared(info.type, known)) continue;
      info.has_type = true;
      info.raw = {};
    } else {
      declared.emplace(name, out.value_infos.size());
      out.value_infos.push_back(memory.messages.make_value_info(name, known));
    }
  }
}

}  // namespace tenon
