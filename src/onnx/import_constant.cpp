// Constant nodes become constants of the graph, whichever attribute carries the value.
#include <algorithm>

#include "onnx/graph_importer.h"
#include "weights/source_names.h"

namespace tenon {

// A constant that a call gives has the name of the call's attribute.
Result<Constant> GraphImporter::constant_of(const wire::Attribute& value) {
  std::string source = model_.names.of(value);
  if (value.type == wire::AttributeType::Tensor) return constant_of(value.tensors.at(0), std::move(source));
  if (value.type == wire::AttributeType::SparseTensor) {
    TN_ASSIGN_OR_RETURN(Tensor dense, wire::densify(value.sparse_tensors.at(0), model_.model.bytes,
                                                    model_.model.external.get(), model_.options.max_dense_bytes));
    return Constant::of(std::move(source), std::move(dense));
  }
  Tensor tensor = attribute_tensor(value);
  if (!tensor.defined()) return invalid_model("the attribute '{}' cannot be the value of a Constant", value.name);
  return Constant::of(std::move(source), std::move(tensor));
}

Status GraphImporter::import_constant(const wire::Node& node) {
  const std::string place = fmt::format("node '{}' (Constant)", readable_name(node));
  const bool has_inputs = std::ranges::any_of(node.inputs, [](wire::Bytes name) { return !name.empty(); });
  if (has_inputs || node.outputs.size() != 1 || node.attributes.size() != 1)
    return invalid_model("a Constant must have no inputs, one output and one attribute").in(place);
  const wire::Attribute* a = &node.attributes[0];
  if (!a->ref_attr_name.empty()) {
    auto it = call_ ? call_->attributes.find(a->ref_attr_name) : decltype(call_->attributes)::const_iterator();
    if (!call_ || it == call_->attributes.end())
      return invalid_model("the attribute '{}' refers to '{}', which the function call does not provide", a->name,
                           a->ref_attr_name)
          .in(place);
  }
  const wire::Attribute* value = a->ref_attr_name.empty() ? a : call_->attributes.at(a->ref_attr_name);
  auto constant = constant_of(*value);
  if (!constant.ok()) return std::move(constant).status().in(place);
  constant->from_node = true;
  constant->in_data_file = value->type == wire::AttributeType::Tensor && value->tensors.at(0).is_external;
  return add_constant(node.outputs[0], std::move(*constant)).in(place);
}

}  // namespace tenon
