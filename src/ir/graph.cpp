#include "ir/graph.h"

#include "ops/infer.h"

namespace tenon {

ValueId Graph::add_value(std::string value_name, Type type) {
  GraphValue v;
  v.name = std::move(value_name);
  v.type = std::move(type);
  values.push_back(std::move(v));
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_constant(Constant constant, std::string value_name) {
  ValueId id =
      add_value(std::move(value_name), Type::tensor(constant.dtype, Shape(constant.dims.begin(), constant.dims.end())));
  constants->push_back(std::move(constant));
  value(id).constant = static_cast<ConstantId>(constants->size() - 1);
  return id;
}

const Tensor* Graph::constant_tensor(ValueId v) const {
  const ConstantId id = value(v).constant;
  if (id == kNone) return nullptr;
  const Tensor& tensor = (*constants)[static_cast<size_t>(id)].tensor;
  return tensor.defined() ? &tensor : nullptr;
}

namespace {

constexpr int64_t kMaxKnownElements = 1024;

template <class T>
std::vector<Dim> elements(const Tensor& t) {
  std::vector<Dim> result;
  for (T x : t.as<T>()) result.emplace_back(static_cast<int64_t>(x));
  return result;
}

// The compiler's answers: constants, and what earlier rules derived.
class GraphKnowledge final : public InferKnowledge {
 public:
  GraphKnowledge(const Graph& graph, const GraphNode& node, int& fresh) : graph_(graph), node_(node), fresh_(fresh) {}

  std::optional<std::vector<Dim>> values(size_t i) override {
    const GraphValue& v = graph_.value(node_.inputs[i]);
    if (v.known) return v.known;
    const Tensor* t = constant(i);
    if (!t || t->size() > kMaxKnownElements) return std::nullopt;
    switch (t->dtype()) {
      case DType::Int64:
        return elements<int64_t>(*t);
      case DType::Int32:
        return elements<int32_t>(*t);
      case DType::Int16:
        return elements<int16_t>(*t);
      case DType::Int8:
        return elements<int8_t>(*t);
      case DType::UInt8:
        return elements<uint8_t>(*t);
      case DType::Bool:
        return elements<bool>(*t);
      default:
        return std::nullopt;
    }
  }
  std::optional<std::vector<Dim>> propagated(size_t i) override { return values(i); }
  const Tensor* constant(size_t i) override { return graph_.constant_tensor(node_.inputs[i]); }
  Dim fresh_symbol() override { return Dim::symbol("_" + std::to_string(fresh_++)); }
  Result<std::vector<Type>> infer_body(size_t body, std::vector<Type>) override {
    if (body >= node_.bodies.size()) return invalid_model("sub-graph {} is missing", body);
    std::vector<Type> types;
    for (ValueId v : node_.bodies[body]->outputs)
      types.push_back(v == kNone ? Type{} : node_.bodies[body]->value(v).type);
    return types;
  }

 private:
  const Graph& graph_;
  const GraphNode& node_;
  int& fresh_;
};

}  // namespace

Status infer_node(Graph& graph, GraphNode& node, int& fresh_symbols) {
  GraphKnowledge knowledge(graph, node, fresh_symbols);
  std::vector<const Type*> inputs;
  for (ValueId v : node.inputs) inputs.push_back(v == kNone ? nullptr : &graph.value(v).type);
  InferContext context(node.op, node.params, std::move(inputs), node.outputs.size(), knowledge);
  TN_RETURN_IF_ERROR(infer_op(context));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    GraphValue& v = graph.value(node.outputs[i]);
    v.type = std::move(context.outputs()[i]);
    v.known = std::move(context.output_values()[i]);
  }
  return {};
}

}  // namespace tenon
