// What a graph declares: its inputs and initializers, and the types the file claims for its values.
#include <unordered_set>

#include "onnx/graph_importer.h"
#include "tensor/value.h"

namespace tenon {

// Initializers by whether an input has their name, and what that means for the input.
struct GraphImporter::ListedInitializers {
  bool overridable = false;                                   // by callers; else the initializer replaces the input
  std::unordered_set<std::string_view> input_names;           // of the graph
  std::unordered_map<std::string_view, ConstantId> defaults;  // of inputs that callers may leave out
  std::unordered_set<std::string_view> frozen;                // inputs that are weights
  int64_t default_bytes = 0;
};

namespace {

// A sequence, optional or map of nobody knows what: no caller could make such a value.
bool has_unknown_inside(const Type& type) {
  using Kind = Type::Kind;
  if (type.kind == Kind::Unknown || type.kind == Kind::Tensor) return false;
  if (type.kind == Kind::Map && type.dtype == DType::Undefined) return true;
  const Type& inside = *type.element;
  return inside.kind == Kind::Unknown || (inside.is_tensor() && inside.dtype == DType::Undefined) ||
         has_unknown_inside(inside);
}

}  // namespace

// The caller's tensor for an initializer of this type, or nothing when the file's counts.
Result<std::optional<Tensor>> GraphImporter::given_tensor(std::string_view name, int64_t data_type,
                                                          const std::vector<int64_t>& dims, bool is_top) const {
  const auto& weights = model_.options.weights;
  const auto given = is_top ? weights.find(std::string(name)) : weights.end();
  if (given == weights.end()) return std::optional<Tensor>();
  const Tensor& tensor = given->second;
  if (static_cast<int64_t>(tensor.dtype()) != data_type || tensor.dims() != dims)
    return invalid_argument("it is {}{} in the model, but the tensor given for it is {}{}",
                            dtype_name(static_cast<DType>(data_type)), shape_text(to_shape(dims)),
                            dtype_name(tensor.dtype()), shape_text(to_shape(tensor.dims())));
  return std::optional(tensor);
}

Result<Constant> GraphImporter::initializer_constant(const wire::TensorProto& proto, bool is_top) {
  TN_ASSIGN_OR_RETURN(auto given, given_tensor(proto.name, proto.data_type, proto.dims, is_top));
  if (given) return Constant::of(model_.names.of(proto), std::move(*given));
  return constant_of(proto, model_.names.of(proto));
}

Result<Constant> GraphImporter::initializer_constant(const wire::SparseTensorProto& proto, bool is_top) {
  TN_ASSIGN_OR_RETURN(auto given, given_tensor(proto.values.name, proto.values.data_type, proto.dims, is_top));
  if (given) return Constant::of(model_.names.of(proto.values), std::move(*given));
  TN_ASSIGN_OR_RETURN(Tensor dense, wire::densify(proto, model_.model.bytes, model_.model.external.get(),
                                                  model_.options.max_dense_bytes));
  return Constant::of(model_.names.of(proto.values), std::move(dense));
}

Status GraphImporter::add_initializer(std::string_view name, Constant constant, ListedInitializers& listed) {
  if (!listed.input_names.contains(name)) return add_constant(name, std::move(constant));
  if (!listed.overridable || model_.options.frozen.contains(name)) {
    if (!listed.frozen.insert(name).second) return invalid_model("the initializer '{}' occurs twice", name);
    model_.model.frozen_inputs.emplace_back(name);
    return add_constant(name, std::move(constant));
  }
  const auto elements = element_count(Shape(constant.dims.begin(), constant.dims.end())).value();
  listed.default_bytes += storage_bytes(constant.dtype, elements).value_or(0);
  replace_elements(constant);
  if (!listed.defaults.emplace(name, graph_.constants->add(std::move(constant))).second)
    return invalid_model("the initializer '{}' occurs twice", name);
  return {};
}

Status GraphImporter::import_initializers(const wire::Graph& wire_graph, bool is_top, ListedInitializers& listed) {
  for (const wire::TensorProto& t : wire_graph.initializers) {
    if (t.name.empty()) return invalid_model("an initializer has no name");
    auto constant = initializer_constant(t, is_top);
    if (!constant.ok()) return std::move(constant).status().in("initializer '" + std::string(t.name) + "'");
    TN_RETURN_IF_ERROR(add_initializer(t.name, std::move(*constant), listed));
  }
  for (const wire::SparseTensorProto& t : wire_graph.sparse_initializers) {
    auto constant = initializer_constant(t, is_top);
    if (!constant.ok())
      return std::move(constant).status().in("sparse initializer '" + std::string(t.values.name) + "'");
    TN_RETURN_IF_ERROR(add_initializer(t.values.name, std::move(*constant), listed));
  }
  return {};
}

Status GraphImporter::import_inputs(const wire::Graph& wire_graph, const std::vector<Type>& input_types, bool is_top) {
  ListedInitializers listed;
  listed.overridable = is_top && model_.model.wire.ir_version >= 4 && !model_.options.freeze_inputs;
  for (const wire::ValueInfo& input : wire_graph.inputs)
    if (!listed.input_names.insert(input.name).second)
      return invalid_model("the input '{}' is listed twice", input.name);
  TN_RETURN_IF_ERROR(import_initializers(wire_graph, is_top, listed));
  for (size_t i = 0; i < wire_graph.inputs.size(); ++i) {
    const wire::ValueInfo& input = wire_graph.inputs[i];
    if (listed.frozen.contains(input.name)) continue;
    TN_ASSIGN_OR_RETURN(Type type, declared_type(input, "input"));
    if (is_top && has_unknown_inside(type))
      return invalid_model("the type of the input '{}' does not say what its elements are: {}", input.name,
                           type.to_string());
    if (i < input_types.size()) {
      if (auto both = merge(type, input_types[i])) {
        type = std::move(*both);
      } else {
        model_.warn(fmt::format("input '{}' of the sub-graph '{}' is declared as {}, but it receives {}", input.name,
                                wire_graph.name, type.to_string(), input_types[i].to_string()));
        type = input_types[i];
      }
    }
    const ValueId v = graph_.add_value(std::string(input.name), std::move(type));
    auto it = listed.defaults.find(input.name);
    graph_.inputs.push_back({v, it == listed.defaults.end() ? kNone : it->second});
    TN_RETURN_IF_ERROR(define(input.name, v));
  }
  if (const size_t count = listed.defaults.size(); count == 1)
    model_.warn(fmt::format(
        "the initializer '{}' ({} bytes) is also listed as an input, so callers may override it and it cannot "
        "be optimized as a weight; freeze_inputs makes it a weight",
        listed.defaults.begin()->first, listed.default_bytes));
  else if (count > 1)
    model_.warn(
        fmt::format("{} initializers ({} bytes) are also listed as inputs, so callers may override them and they "
                    "cannot be optimized as weights; freeze_inputs makes them weights",
                    count, listed.default_bytes));
  return {};
}

Result<Type> GraphImporter::declared_type(const wire::ValueInfo& info, const char* what) {
  if (const auto number = unknown_element_type(info.type))
    return invalid_model("the {} '{}' is declared with the unknown element type {}", what, info.name, *number);
  return type_from_proto(info.type, graph_.constants->symbols());
}

// What the file claims about types is compared with inference, which wins where it knows. Callers rely on what a model
// promises of its outputs, so these must hold the elements they are declared with.
Status GraphImporter::check_declared(const wire::Graph& wire_graph, bool is_top) {
  auto check = [&](const wire::ValueInfo& info, const char* what, bool is_output) -> Status {
    TN_ASSIGN_OR_RETURN(const Type declared, declared_type(info, what));
    auto it = names_.find(std::string(info.name));
    if (it == names_.end()) return {};
    GraphValue& v = graph_.value(it->second);
    if (auto both = merge(v.type, declared)) {
      v.type = std::move(*both);
      return {};
    }
    std::string contradiction = fmt::format("{} '{}'{} is declared as {}, but it is {}", what, info.name,
                                            is_top ? "" : fmt::format(" of the sub-graph '{}'", wire_graph.name),
                                            declared.to_string(), v.type.to_string());
    if (is_top && is_output && !merge(without_shape(v.type), without_shape(declared)))
      return Status(Code::InvalidModel, std::move(contradiction));
    model_.warn(contradiction);
    return {};
  };
  for (const wire::ValueInfo& info : wire_graph.value_infos) TN_RETURN_IF_ERROR(check(info, "value", false));
  for (const wire::ValueInfo& info : wire_graph.outputs) TN_RETURN_IF_ERROR(check(info, "output", true));
  return {};
}

}  // namespace tenon
