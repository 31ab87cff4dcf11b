#include "onnx/graph_importer.h"

#include <algorithm>
#include <unordered_set>

#include "base/checked_math.h"
#include "onnx/onnx_map.h"
#include "onnx/required_attributes.h"
#include "ops/unsupported.h"
#include "tensor/value.h"

namespace tenon {

namespace {

constexpr int64_t kSmallConstantBytes = 4096;

void collect_references(const wire::Node& node, std::vector<std::string_view>& out);

// What a body takes from outside: names it uses and does not define itself.
void collect_references(const wire::Graph& graph, std::vector<std::string_view>& out) {
  std::unordered_set<std::string_view> own;
  for (const wire::ValueInfo& input : graph.inputs) own.insert(input.name);
  for (const wire::TensorProto& tensor : graph.initializers) own.insert(tensor.name);
  for (const wire::SparseTensorProto& tensor : graph.sparse_initializers) own.insert(tensor.values.name);
  for (const wire::Node& node : graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  const size_t before = out.size();
  for (const wire::Node& node : graph.nodes) collect_references(node, out);
  for (const wire::ValueInfo& output : graph.outputs) out.push_back(output.name);
  out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
                           [&](std::string_view name) { return own.contains(name); }),
            out.end());
}

void collect_references(const wire::Node& node, std::vector<std::string_view>& out) {
  for (wire::Bytes input : node.inputs)
    if (!input.empty()) out.push_back(input);
  for (const wire::Attribute& a : node.attributes)
    for (const auto& graph : a.graphs) collect_references(*graph, out);
}

}  // namespace

std::string ModelImport::function_key(std::string_view domain, std::string_view name, std::string_view overload) {
  return fmt::format("{}:{}:{}", canonical_domain(domain), name, overload);
}

GraphImporter::GraphImporter(ModelImport& model, Graph& graph, GraphImporter* outer, const OpsetVersions& opsets,
                             const FunctionCall* call, std::string source_scope)
    : model_(model), graph_(graph), outer_(outer), opsets_(opsets), call_(call),
      source_scope_(std::move(source_scope)) {}

std::string GraphImporter::source_name(std::string_view name) const {
  return source_scope_.empty() ? std::string(name) : source_scope_ + "/" + std::string(name);
}

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
  if (original.constant == kNone) graph_.captures.push_back({outside, inside});
  names_.emplace(key, inside);
  return inside;
}

Status GraphImporter::define(std::string_view name, ValueId value) {
  if (!names_.emplace(std::string(name), value).second)
    return invalid_model("the name '{}' is defined twice in one graph", name);
  GraphValue& v = graph_.value(value);
  if (v.name.empty()) v.name = std::string(name);
  return {};
}

Result<Constant> GraphImporter::constant_of(const wire::TensorProto& proto, std::string source) {
  auto dtype = dtype_from_onnx(proto.data_type);
  if (!dtype) return invalid_model("tensor '{}' has the unknown element type {}", proto.name, proto.data_type);
  const bool small =
      !proto.is_external && (proto.raw_data ? proto.raw_data->size() : proto.raw.size()) <= kSmallConstantBytes;
  auto owner = model_.model.bytes;
  auto external = model_.model.external;
  Constant constant{std::move(source), *dtype, proto.dims, Tensor(), nullptr, {}, false, file_place(proto)};
  if (small) {
    TN_ASSIGN_OR_RETURN(constant.tensor, wire::decode_tensor(proto, owner, external.get()));
  } else {
    constant.load = [&proto, owner, external] { return wire::decode_tensor(proto, owner, external.get()); };
  }
  return constant;
}

// Elements that lie in a file as they are used can be found there again.
std::optional<ExternalPlace> GraphImporter::file_place(const wire::TensorProto& proto) const {
  const ImportedModel& model = model_.model;
  if (model.path.empty()) return std::nullopt;
  if (proto.is_external) {
    const auto region = wire::external_region(proto);
    if (!region.ok() || region->location.empty()) return std::nullopt;
    const auto dtype = dtype_from_onnx(proto.data_type);
    const auto count = checked_product(proto.dims);
    const auto bytes = dtype && count ? storage_bytes(*dtype, *count) : std::nullopt;
    if (!bytes) return std::nullopt;
    return ExternalPlace{std::string(region->location), region->offset, *bytes};
  }
  if (!proto.raw_data || proto.raw_data->empty()) return std::nullopt;
  const auto offset = proto.raw_data->data() - model.file.data();
  return ExternalPlace{model.path.substr(model.path.rfind('/') + 1), static_cast<int64_t>(offset),
                       static_cast<int64_t>(proto.raw_data->size())};
}

// The caller's tensor when there is one, else the file's.
Result<Constant> GraphImporter::initializer_constant(const wire::TensorProto& proto, bool is_top) {
  const auto& weights = model_.options.weights;
  auto given = is_top ? weights.find(std::string(proto.name)) : weights.end();
  if (given == weights.end()) return constant_of(proto, source_name(proto.name));
  const Tensor& tensor = given->second;
  if (static_cast<int64_t>(tensor.dtype()) != proto.data_type || tensor.dims() != proto.dims)
    return invalid_argument("it is {}{} in the model, the tensor given for it is {}{}",
                            dtype_name(static_cast<DType>(proto.data_type)), shape_text(to_shape(proto.dims)),
                            dtype_name(tensor.dtype()), shape_text(to_shape(tensor.dims())));
  return Constant::of(source_name(proto.name), tensor);
}

Status GraphImporter::add_constant(std::string_view name, Constant constant) {
  if (call_) {
    // A constant of a function body is one source, however often the function is called.
    auto [it, is_new] = model_.function_constants.emplace(constant.source, kNone);
    if (!is_new) {
      const Constant& known = (*graph_.constants)[static_cast<size_t>(it->second)];
      const ValueId v =
          graph_.add_value(std::string(name), Type::tensor(known.dtype, Shape(known.dims.begin(), known.dims.end())));
      graph_.value(v).constant = it->second;
      return define(name, v);
    }
    const ValueId v = graph_.add_constant(std::move(constant), std::string(name));
    it->second = graph_.value(v).constant;
    return define(name, v);
  }
  return define(name, graph_.add_constant(std::move(constant), std::string(name)));
}

Status GraphImporter::import_initializers(const wire::Graph& wire_graph, const std::vector<Type>& input_types,
                                          bool is_top) {
  std::unordered_set<std::string_view> input_names;
  for (const wire::ValueInfo& input : wire_graph.inputs)
    if (!input_names.insert(input.name).second) return invalid_model("the input '{}' is listed twice", input.name);
  const bool overridable = is_top && model_.model.wire.ir_version >= 4 && !model_.options.freeze_inputs;
  std::unordered_map<std::string_view, ConstantId> defaults;
  std::unordered_set<std::string_view> frozen;
  int64_t default_bytes = 0;

  auto add = [&](wire::Bytes name, Constant constant) -> Status {
    if (!input_names.contains(name)) return add_constant(name, std::move(constant));
    if (!overridable || model_.options.frozen.contains(name)) {
      if (!frozen.insert(name).second) return invalid_model("the initializer '{}' is given twice", name);
      if (is_top) model_.model.frozen_inputs.emplace_back(name);
      return add_constant(name, std::move(constant));
    }
    default_bytes +=
        storage_bytes(constant.dtype, element_count(Shape(constant.dims.begin(), constant.dims.end())).value())
            .value_or(0);
    graph_.constants->push_back(std::move(constant));
    if (!defaults.emplace(name, static_cast<ConstantId>(graph_.constants->size() - 1)).second)
      return invalid_model("the initializer '{}' is given twice", name);
    return {};
  };
  for (const wire::TensorProto& t : wire_graph.initializers) {
    if (t.name.empty()) return invalid_model("an initializer has no name");
    auto constant = initializer_constant(t, is_top);
    if (!constant.ok()) return std::move(constant).status().in("initializer '" + std::string(t.name) + "'");
    TN_RETURN_IF_ERROR(add(t.name, std::move(*constant)));
  }
  for (const wire::SparseTensorProto& t : wire_graph.sparse_initializers) {
    auto dense = wire::densify(t, model_.model.bytes, model_.model.external.get(), model_.options.max_dense_bytes);
    if (!dense.ok()) return std::move(dense).status().in("sparse initializer '" + std::string(t.values.name) + "'");
    TN_RETURN_IF_ERROR(add(t.values.name, Constant::of(source_name(t.values.name), std::move(*dense))));
  }
  for (size_t i = 0; i < wire_graph.inputs.size(); ++i) {
    const wire::ValueInfo& input = wire_graph.inputs[i];
    if (frozen.contains(input.name)) continue;
    Type type = type_from_proto(input.type, model_.fresh_symbols);
    if (i < input_types.size()) {
      auto both = merge(type, input_types[i]);
      if (!both)
        return invalid_model("input '{}' is declared as {}, it is given {}", input.name, type.to_string(),
                             input_types[i].to_string());
      type = std::move(*both);
    }
    const ValueId v = graph_.add_value(std::string(input.name), std::move(type));
    auto it = defaults.find(input.name);
    graph_.inputs.push_back({v, it == defaults.end() ? kNone : it->second});
    TN_RETURN_IF_ERROR(define(input.name, v));
  }
  if (!defaults.empty())
    model_.model.warnings.push_back(
        fmt::format("{} initializers ({} bytes) are also listed as inputs, so callers may override them and they "
                    "cannot be optimized as weights; freeze_inputs makes them weights",
                    defaults.size(), default_bytes));
  return {};
}

Status GraphImporter::import_graph(const wire::Graph& wire_graph, const std::vector<Type>& input_types, bool is_top) {
  graph_.name = std::string(wire_graph.name);
  TN_RETURN_IF_ERROR(import_initializers(wire_graph, input_types, is_top));
  TN_RETURN_IF_ERROR(import_nodes(wire_graph.nodes));
  for (const wire::ValueInfo& output : wire_graph.outputs) {
    const ValueId v = lookup(output.name);
    if (v == kNone) return invalid_model("the graph output '{}' is not produced by any node", output.name);
    graph_.outputs.push_back(v);
    graph_.output_names.emplace_back(output.name);
  }
  return check_declared(wire_graph);
}

// What the file claims about types is compared with inference; inference wins where it knows.
Status GraphImporter::check_declared(const wire::Graph& wire_graph) {
  auto check = [&](const wire::ValueInfo& info, const char* what) {
    auto it = names_.find(std::string(info.name));
    if (it == names_.end()) return;
    GraphValue& v = graph_.value(it->second);
    const Type declared = type_from_proto(info.type, model_.fresh_symbols);
    if (auto both = merge(v.type, declared)) {
      v.type = std::move(*both);
    } else {
      model_.model.warnings.push_back(fmt::format("{} '{}' is declared as {}, it is {}", what, info.name,
                                                  declared.to_string(), v.type.to_string()));
    }
  };
  for (const wire::ValueInfo& info : wire_graph.value_infos) check(info, "value");
  for (const wire::ValueInfo& info : wire_graph.outputs) check(info, "output");
  return {};
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
  std::vector<std::string_view> references;
  for (size_t i = 0; i < nodes.size(); ++i) {
    references.clear();
    collect_references(nodes[i], references);
    for (std::string_view name : references) {
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
        return invalid_model("the graph has a cycle through node '{}' ({})", nodes[i].name, nodes[i].op_type);
  return order;
}

Status GraphImporter::import_node(const wire::Node& node) {
  const std::string_view domain = canonical_domain(node.domain);
  auto function = model_.functions.find(ModelImport::function_key(domain, node.op_type, node.overload));
  if (function != model_.functions.end()) return import_call(node, *function->second);
  if (domain.empty() && node.op_type == "Constant") return import_constant(node);

  auto opset = opsets_.find(std::string(domain));
  const int64_t version = opset == opsets_.end() ? 1 : opset->second;
  ImportNode import(*this, node, version);
  const std::string place = fmt::format("node '{}' ({})", import.name(), node.op_type);
  TN_RETURN_IF_ERROR(check_required_attributes(import, domain).in(place));
  const OnnxMap::Entry* entry = onnx_map().find(domain, node.op_type);
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
  // Attributes that old versions used for in-place hints and that never meant anything.
  import.ignore_attribute("consumed_inputs");
  if (import.status().ok()) import.fail(import.check_all_read());
  if (import.status().ok()) return {};
  return Status(import.status()).in(place);
}

Status GraphImporter::import_call(const wire::Node& node, const wire::Function& function) {
  if (++model_.depth > model_.options.parse.max_nesting)
    return error(Code::ResourceLimit, "function calls are nested more than {} deep (is '{}' recursive?)",
                 model_.options.parse.max_nesting, function.name);
  FunctionCall call;
  call.function = &function;
  for (const wire::Attribute& a : function.attribute_defaults) call.attributes[a.name] = &a;
  for (const wire::Attribute& a : node.attributes) {
    const wire::Attribute* given = &a;
    if (!a.ref_attr_name.empty()) {
      // A reference in the caller's own body: what that call was given.
      auto it = call_ ? call_->attributes.find(a.ref_attr_name) : decltype(call.attributes)::const_iterator();
      if (!call_ || it == call_->attributes.end()) continue;
      given = it->second;
    }
    call.attributes[a.name] = given;
  }
  OpsetVersions opsets;
  for (const wire::OpsetImport& o : function.opsets) opsets[std::string(canonical_domain(o.domain))] = o.version;
  for (const auto& [domain, version] : opsets_) opsets.emplace(domain, version);

  GraphImporter inner(model_, graph_, nullptr, opsets, &call, fmt::format("{}.{}", function.domain, function.name));
  const std::string place = fmt::format("function '{}' called by node '{}'", function.name, node.name);
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    ValueId v = kNone;
    if (i < node.inputs.size() && !node.inputs[i].empty()) {
      v = lookup(node.inputs[i]);
      if (v == kNone) return invalid_model("input '{}' is not defined", node.inputs[i]).in(place);
    }
    inner.names_.emplace(std::string(function.inputs[i]), v);
  }
  TN_RETURN_IF_ERROR(inner.import_nodes(function.nodes).in(place));
  for (size_t i = 0; i < node.outputs.size() && i < function.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const ValueId v = inner.lookup(function.outputs[i]);
    if (v == kNone) return invalid_model("the output '{}' is not produced", function.outputs[i]).in(place);
    TN_RETURN_IF_ERROR(define(node.outputs[i], v).in(place));
  }
  --model_.depth;
  return {};
}

}  // namespace tenon
