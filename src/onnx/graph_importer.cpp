#include "onnx/graph_importer.h"

#include <algorithm>
#include <unordered_set>

#include "base/checked_math.h"
#include "onnx/onnx_map.h"
#include "onnx/op_versions.h"
#include "onnx/references.h"
#include "ops/unsupported.h"
#include "plan/tensor_bytes.h"
#include "tensor/value.h"
#include "weights/source_names.h"

namespace tenon {

namespace {

// Decoded at once: cheaper than a function that decodes it later, and errors come early.
constexpr int64_t kSmallConstantBytes = 4096;

Status check_attribute_names(const wire::Node& node) {
  if (node.attributes.size() < 2) return {};
  std::unordered_set<std::string_view> names;
  for (const wire::Attribute& a : node.attributes)
    if (!names.insert(a.name).second) return invalid_model("the attribute '{}' occurs twice", a.name);
  return {};
}

}  // namespace

GraphImporter::GraphImporter(ModelImport& model, Graph& graph, GraphImporter* outer, const OpsetVersions& opsets,
                             const FunctionCall* call)
    : model_(model), graph_(graph), outer_(outer), opsets_(opsets), call_(call) {}

ValueId GraphImporter::lookup(std::string_view name) {
  const std::string key(name);
  if (auto it = names_.find(key); it != names_.end()) return it->second;
  if (!outer_) return kNone;
  const ValueId outside = outer_->lookup(name);
  if (outside == kNone) return kNone;
  const GraphValue& original = outer_->graph_.value(outside);
  const ValueId inside = graph_.add_value(original.name.empty() ? key : original.name, original.type);
  graph_.value(inside).constant = original.constant;
  graph_.value(inside).known = original.known;
  graph_.value(inside).known_from = original.known_from;
  graph_.value(inside).folds = original.constant != kNone;
  graph_.value(inside).in_file = original.in_file;
  if (original.constant == kNone) graph_.captures.push_back({outside, inside});
  names_.emplace(key, inside);
  return inside;
}

Status GraphImporter::define(std::string_view name, ValueId value) {
  if (!names_.emplace(std::string(name), value).second)
    return invalid_model("the name '{}' is defined twice in one graph", name);
  GraphValue& v = graph_.value(value);
  // The name that the file has goes before one that only a function knows.
  if (v.name.empty() || (!call_ && !v.in_file)) v.name = std::string(name);
  v.in_file = v.in_file || !call_;
  return {};
}

Result<Constant> GraphImporter::constant_of(const wire::TensorProto& proto, std::string source) {
  auto dtype = dtype_from_onnx(proto.data_type);
  if (!dtype) return invalid_model("tensor '{}' has the unknown element type {}", proto.name, proto.data_type);
  const bool small =
      !proto.is_external && (proto.raw_data ? proto.raw_data->size() : proto.raw.size()) <= kSmallConstantBytes;
  auto owner = model_.model.bytes;
  auto external = model_.model.external;
  const auto place = place_of(proto, model_.model.path, model_.model.file);
  Constant constant{std::move(source), *dtype, proto.dims, Tensor(), nullptr, {}, {}, false, place};
  if (small) {
    TN_ASSIGN_OR_RETURN(constant.tensor, wire::decode_tensor(proto, owner, external.get()));
  } else {
    TN_RETURN_IF_ERROR(wire::check_tensor(proto));
    constant.load = [&proto, owner, external] { return wire::decode_tensor(proto, owner, external.get()); };
  }
  return constant;
}

Status GraphImporter::add_constant(std::string_view name, Constant constant) {
  TN_ASSIGN_OR_RETURN(const ValueId v, constant_value(std::move(constant), std::string(name)));
  return define(name, v);
}

namespace {

// Elements from elsewhere in the shape that the model has them in.
Result<Tensor> read_replaced(const std::function<Result<Tensor>()>& load, const std::string& source, DType dtype,
                             const std::vector<int64_t>& dims) {
  auto tensor = load();
  if (!tensor.ok()) return std::move(tensor).status().in("weight '" + source + "'");
  if (tensor->dtype() != dtype || tensor->size() != count_of(dims))
    return invalid_argument("the weight '{}' is {}{} in the model, the new one is {}{}", source, dtype_name(dtype),
                            shape_text(to_shape(dims)), dtype_name(tensor->dtype()),
                            shape_text(to_shape(tensor->dims())));
  return tensor->dims() == dims ? std::move(*tensor) : tensor->reshaped(dims);
}

}  // namespace

void GraphImporter::replace_elements(Constant& constant) const {
  if (constant.source.empty() || !model_.options.replaced) return;
  const auto load = model_.options.replaced(constant.source);
  if (!load) return;
  constant.tensor = Tensor();
  constant.load = [load, source = constant.source, dtype = constant.dtype, dims = constant.dims] {
    return read_replaced(load, source, dtype, dims);
  };
}

Result<ValueId> GraphImporter::constant_value(Constant constant, std::string value_name) {
  if (constant.source.empty()) return graph_.add_constant(std::move(constant), std::move(value_name));
  replace_elements(constant);
  const auto [it, is_new] = model_.sources.emplace(constant.source, kNone);
  if (is_new) {
    const ValueId v = graph_.add_constant(std::move(constant), std::move(value_name));
    it->second = graph_.value(v).constant;
    return v;
  }
  // Outside of functions everything is read once, and names are made to differ.
  if (!call_) return error(Code::Internal, "two weights are named '{}'", constant.source);
  const Constant& known = (*graph_.constants)[it->second];
  if (known.dtype != constant.dtype || known.dims != constant.dims) {
    TN_RETURN_IF_ERROR(share_as_literal(it->second, constant));
    return graph_.add_constant(std::move(constant), std::move(value_name));
  }
  return graph_.value_of(it->second, std::move(value_name));
}

// An attribute of a call that the function reads in two shapes. One source has one shape, so the other reading is a
// literal, and both stay as they are.
Status GraphImporter::share_as_literal(ConstantId id, Constant& constant) {
  TN_RETURN_IF_ERROR(constant.read());
  constant.source.clear();
  TN_RETURN_IF_ERROR((*graph_.constants)[id].read());
  graph_.note_asked(id, "a second shape of the attribute");
  return {};
}

Status GraphImporter::ask_source(Constant constant, const std::string& asker) {
  if (constant.source.empty()) return {};
  // Nodes were made from what the file has.
  if (const auto load = model_.options.replaced ? model_.options.replaced(constant.source) : nullptr) {
    TN_ASSIGN_OR_RETURN(const Tensor other, read_replaced(load, constant.source, constant.dtype, constant.dims));
    if (content_hash(other) != content_hash(constant.tensor))
      return unsupported("'{}' is part of the model and no weight; it cannot change", constant.source);
  }
  const auto [it, is_new] = model_.sources.emplace(constant.source, kNone);
  if (is_new) {
    it->second = graph_.constants->add(std::move(constant));
  } else if (!call_) {
    return error(Code::Internal, "two weights are named '{}'", constant.source);
  }
  TN_RETURN_IF_ERROR((*graph_.constants)[it->second].read());
  graph_.note_asked(it->second, asker);
  return {};
}

Status GraphImporter::import_graph(const wire::Graph& wire_graph, const std::vector<Type>& input_types, bool is_top) {
  graph_.name = std::string(wire_graph.name);
  if (!call_) graph_.wire = &wire_graph;
  TN_RETURN_IF_ERROR(import_inputs(wire_graph, input_types, is_top));
  TN_RETURN_IF_ERROR(import_nodes(wire_graph.nodes));
  for (const wire::ValueInfo& output : wire_graph.outputs) {
    const ValueId v = lookup(output.name);
    if (v == kNone) return invalid_model("the graph output '{}' is not produced by any node", output.name);
    graph_.add_output(v, std::string(output.name));
  }
  return check_declared(wire_graph, is_top);
}

Status GraphImporter::import_nodes(const std::vector<wire::Node>& nodes) {
  TN_ASSIGN_OR_RETURN(auto order, data_flow_order(nodes));
  for (size_t i : order) TN_RETURN_IF_ERROR(import_node(nodes[i]));
  return {};
}

// The given order when it already respects data flow, which ONNX asks for; else one that does.
Result<std::vector<size_t>> GraphImporter::data_flow_order(const std::vector<wire::Node>& nodes) {
  std::unordered_map<std::string_view, size_t> producer;
  for (size_t i = 0; i < nodes.size(); ++i)
    for (wire::Bytes output : nodes[i].outputs)
      if (!output.empty()) producer.emplace(output, i);
  std::vector<std::vector<size_t>> users(nodes.size());
  std::vector<size_t> waiting(nodes.size(), 0);
  bool sorted = true;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (std::string_view name : references_of(nodes[i])) {
      auto it = producer.find(name);
      if (it == producer.end() || (it->second == i && names_.contains(std::string(name)))) continue;
      sorted &= it->second < i;
      users[it->second].push_back(i);
      ++waiting[i];
    }
  }
  std::vector<size_t> order;
  if (sorted) {
    for (size_t i = 0; i < nodes.size(); ++i) order.push_back(i);
    return order;
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    if (waiting[i] == 0) order.push_back(i);
  for (size_t at = 0; at < order.size(); ++at)
    for (size_t user : users[order[at]])
      if (--waiting[user] == 0) order.push_back(user);
  if (order.size() < nodes.size())
    for (size_t i = 0; i < nodes.size(); ++i)
      if (waiting[i] != 0)
        return invalid_model("the graph has a cycle through node '{}' ({})", readable_name(nodes[i]), nodes[i].op_type);
  return order;
}

// A model that does not say which version it imports gets no word about versions.
Status GraphImporter::check_version(const wire::Node& node, std::string_view domain) {
  const auto opset = opsets_.find(std::string(domain));
  if (opset == opsets_.end()) return {};
  TN_RETURN_IF_ERROR(check_introduced(domain, node.op_type, opset->second));
  if (is_deprecated(domain, node.op_type, opset->second) && model_.deprecated.emplace(node.op_type).second)
    model_.warn(fmt::format("{} is deprecated in version {} of {}", node.op_type, opset->second, shown_domain(domain)));
  return {};
}

Status GraphImporter::import_node(const wire::Node& node) {
  // Nothing can follow from a node that names no result: ops have no side effects.
  if (std::ranges::all_of(node.outputs, [](wire::Bytes name) { return name.empty(); })) {
    model_.without_outputs.add(readable_name(node), node.op_type);
    return {};
  }
  const std::string_view domain = canonical_domain(node.domain);
  TN_RETURN_IF_ERROR(check_attribute_names(node).in(fmt::format("node '{}' ({})", readable_name(node), node.op_type)));
  auto function = model_.functions.find(function_key(domain, node.op_type, node.overload));
  if (function != model_.functions.end()) return import_call(node, *function->second);
  if (domain.empty() && node.op_type == "Constant") return import_constant(node);

  auto opset = opsets_.find(std::string(domain));
  const int64_t version = opset == opsets_.end() ? 1 : opset->second;
  ImportNode import(*this, node, version);
  const std::string place = fmt::format("node '{}' ({})", import.name(), node.op_type);
  TN_RETURN_IF_ERROR(check_version(node, domain).in(place));
  const OnnxMap::Entry* entry = onnx_map().find(domain, node.op_type);
  if (entry) TN_RETURN_IF_ERROR(entry->check_attributes(import).in(place));
  if (!entry) {
    UnsupportedParams params{std::string(node.op_type), std::string(domain), version};
    for (const wire::Attribute& a : node.attributes) import.ignore_attribute(a.name);
    import.finish(import.emit(OpId::Unsupported, Params::of(std::move(params)), import.inputs(), node.outputs.size()));
  } else if (entry->import) {
    entry->import(import);
  } else {
    Params params = import.read_params(entry->op);
    import.finish(import.emit(entry->op, std::move(params), import.inputs(), node.outputs.size()));
  }
  // What was learned is more than the weights: labels and vocabularies belong to them, and the order of their elements.
  if (has_learned_attributes(node)) import.ask_lists();
  // Attributes that old versions used for in-place hints and that never meant anything.
  import.ignore_attribute("consumed_inputs");
  if (import.status().ok()) import.fail(import.check_all_read());
  if (import.status().ok()) return {};
  return Status(import.status()).in(place);
}

}  // namespace tenon
