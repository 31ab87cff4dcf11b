#include "ir/graph.h"

#include <fmt/format.h>

#include <algorithm>

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

void Graph::note_asked(ConstantId id, std::string_view asker) {
  Constant& constant = (*constants)[static_cast<size_t>(id)];
  if (constant.asker.empty()) constant.asker = asker;
}

const Tensor* Graph::ask(ValueId v, std::string_view asker) {
  const Tensor* tensor = constant_tensor(v);
  if (tensor) note_asked(value(v).constant, asker);
  return tensor;
}

namespace {

constexpr int64_t kMaxKnownElements = 1024;

template <class T>
std::vector<Dim> elements(const Tensor& t) {
  std::vector<Dim> result;
  for (T x : t.as<T>()) result.emplace_back(static_cast<int64_t>(x));
  return result;
}

std::optional<std::vector<Dim>> integer_elements(const Tensor& t) {
  if (t.size() > kMaxKnownElements) return std::nullopt;
  switch (t.dtype()) {
    case DType::Int64:
      return elements<int64_t>(t);
    case DType::Int32:
      return elements<int32_t>(t);
    case DType::Int16:
      return elements<int16_t>(t);
    case DType::Int8:
      return elements<int8_t>(t);
    case DType::UInt8:
      return elements<uint8_t>(t);
    case DType::Bool:
      return elements<bool>(t);
    default:
      return std::nullopt;
  }
}

// The compiler's answers: constants, and what earlier rules derived.
class GraphKnowledge final : public InferKnowledge {
 public:
  GraphKnowledge(Graph& graph, const GraphNode& node, int& fresh) : graph_(graph), node_(node), fresh_(fresh) {}

  // Shapes follow from these, so a plan does too.
  std::optional<std::vector<Dim>> values(size_t i) override {
    auto result = propagated(i);
    if (result)
      for (ConstantId id : origins(i)) note_asked(id);
    return result;
  }
  // Passed on; whoever decides by the result asks for what it comes from.
  std::optional<std::vector<Dim>> propagated(size_t i) override {
    const GraphValue& v = graph_.value(node_.inputs[i]);
    const Tensor* t = v.known ? nullptr : graph_.constant_tensor(node_.inputs[i]);
    auto result = t ? integer_elements(*t) : v.known;
    if (!result) return result;
    const auto from = origins(i);
    passed_on_.insert(passed_on_.end(), from.begin(), from.end());
    return result;
  }
  const Tensor* constant(size_t i) override {
    const Tensor* tensor = graph_.constant_tensor(node_.inputs[i]);
    if (tensor) note_asked(graph_.value(node_.inputs[i]).constant);
    return tensor;
  }
  // The constants that the elements of outputs may come from.
  std::vector<ConstantId> passed_on() {
    std::ranges::sort(passed_on_);
    passed_on_.erase(std::unique(passed_on_.begin(), passed_on_.end()), passed_on_.end());
    return passed_on_;
  }
  Dim fresh_symbol() override { return Dim::symbol("?" + std::to_string(fresh_++)); }
  Result<std::vector<Type>> infer_body(size_t body, std::vector<Type>) override {
    if (body >= node_.bodies.size()) return invalid_model("sub-graph {} is missing", body);
    std::vector<Type> types;
    for (ValueId v : node_.bodies[body]->outputs)
      types.push_back(v == kNone ? Type{} : node_.bodies[body]->value(v).type);
    return types;
  }

 private:
  void note_asked(ConstantId id) {
    if ((*graph_.constants)[static_cast<size_t>(id)].asker.empty())
      graph_.note_asked(id, fmt::format("the shape rule of node '{}' ({})", node_.name, op_def(node_.op).name));
  }
  std::vector<ConstantId> origins(size_t i) const {
    const GraphValue& v = graph_.value(node_.inputs[i]);
    return v.constant != kNone ? std::vector<ConstantId>{v.constant} : v.known_from;
  }

  Graph& graph_;
  const GraphNode& node_;
  int& fresh_;
  std::vector<ConstantId> passed_on_;
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
    if (v.known) v.known_from = knowledge.passed_on();
  }
  return {};
}

}  // namespace tenon
