// Constant nodes become constants of the graph, whichever attribute carries the value.
#include <algorithm>

#include "onnx/graph_importer.h"
#include "weights/source_names.h"

namespace tenon {

namespace {

Tensor string_tensor(std::vector<int64_t> dims, const std::vector<wire::Bytes>& strings) {
  std::vector<std::string> values(strings.begin(), strings.end());
  return Tensor::of<std::string>(std::move(dims), values);
}

}  // namespace

Status GraphImporter::import_constant(const wire::Node& node) {
  const std::string place = fmt::format("node '{}' (Constant)", readable_name(node));
  const bool has_inputs = std::ranges::any_of(node.inputs, [](wire::Bytes name) { return !name.empty(); });
  if (has_inputs || node.outputs.size() != 1 || node.attributes.size() != 1)
    return invalid_model("a Constant has no input, one output and one attribute").in(place);
  const wire::Attribute* a = &node.attributes[0];
  if (!a->ref_attr_name.empty()) {
    auto it = call_ ? call_->attributes.find(a->ref_attr_name) : decltype(call_->attributes)::const_iterator();
    if (!call_ || it == call_->attributes.end())
      return invalid_model("the attribute '{}' refers to '{}', which the call does not give", a->name, a->ref_attr_name)
          .in(place);
  }
  const wire::Attribute* value = a->ref_attr_name.empty() ? a : call_->attributes.at(a->ref_attr_name);
  const auto length = [](const auto& list) { return std::vector<int64_t>{static_cast<int64_t>(list.size())}; };
  const wire::Bytes output = node.outputs[0];

  Constant constant;
  // A constant made from the call's attributes differs from call to call, so it is not a shared source.
  const std::string source = a->ref_attr_name.empty() ? source_name(output) : std::string();
  switch (value->type) {
    case wire::AttributeType::Tensor: {
      auto made = constant_of(value->tensors.at(0), source);
      if (!made.ok()) return std::move(made).status().in(place);
      constant = std::move(*made);
      break;
    }
    case wire::AttributeType::SparseTensor: {
      auto dense = wire::densify(value->sparse_tensors.at(0), model_.model.bytes, model_.model.external.get(),
                                 model_.options.max_dense_bytes);
      if (!dense.ok()) return std::move(dense).status().in(place);
      constant = Constant::of(source, std::move(*dense));
      break;
    }
    case wire::AttributeType::Float:
      constant = Constant::of(source, Tensor::of<float>({}, std::span(&value->f, 1)));
      break;
    case wire::AttributeType::Floats:
      constant = Constant::of(source, Tensor::of<float>(length(value->floats), value->floats));
      break;
    case wire::AttributeType::Int:
      constant = Constant::of(source, Tensor::scalar(value->i));
      break;
    case wire::AttributeType::Ints:
      constant = Constant::of(source, Tensor::of_ints(value->ints));
      break;
    case wire::AttributeType::String:
      constant = Constant::of(source, string_tensor({}, {value->s}));
      break;
    case wire::AttributeType::Strings:
      constant = Constant::of(source, string_tensor(length(value->strings), value->strings));
      break;
    default:
      return invalid_model("the attribute '{}' cannot be the value of a Constant", a->name).in(place);
  }
  constant.from_node = true;
  if (constant.source.empty())
    return define(output, graph_.add_constant(std::move(constant), std::string(output))).in(place);
  return add_constant(output, std::move(constant)).in(place);
}

}  // namespace tenon
