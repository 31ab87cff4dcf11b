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

Status Constant::read() {
  if (tensor.defined()) return {};
  TN_ASSIGN_OR_RETURN(tensor, load());
  return {};
}

bool Constant::may_be_asked() const {
  const auto bytes = storage_bytes(dtype, element_count(Shape(dims.begin(), dims.end())).value());
  return bytes && *bytes <= kMostAskedBytes;
}

Constant* Graph::constant(ValueId v) {
  const ConstantId id = value(v).constant;
  return id == kNone ? nullptr : &(*constants)[static_cast<size_t>(id)];
}

const Constant* Graph::constant(ValueId v) const {
  const ConstantId id = value(v).constant;
  return id == kNone ? nullptr : &(*constants)[static_cast<size_t>(id)];
}

const Tensor* Graph::elements_at_hand(ValueId v) const {
  const Constant* found = constant(v);
  return found && found->tensor.defined() ? &found->tensor : nullptr;
}

void Graph::note_asked(ConstantId id, std::string_view asker) {
  Constant& constant = (*constants)[static_cast<size_t>(id)];
  if (constant.asker.empty()) constant.asker = asker;
}

const Tensor* Graph::ask(ValueId v, std::string_view asker) {
  const Constant* asked = constant(v);
  return asked && asked->may_be_asked() ? require(v, asker) : nullptr;
}

const Tensor* Graph::require(ValueId v, std::string_view asker) {
  Constant* required = constant(v);
  if (!required) return nullptr;
  note_asked(value(v).constant, asker);
  return required->read().ok() ? &required->tensor : nullptr;
}

namespace {

// Far more than any shape, list of axes or of parts has; a list is kept in a larger form than its file has it.
constexpr int64_t kMaxKnownElements = int64_t{1} << 20;

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
    const GraphValue& v = graph_.value(node_.inputs[i]);
    if (v.known) {
      pass_on(v.known_from);
      for (ConstantId id : v.known_from) note_asked(id);
      return v.known;
    }
    const Tensor* t = constant(i);
    if (t) pass_on({v.constant});
    return t ? integer_elements(*t) : std::nullopt;
  }
  // Passed on; whoever decides by the result asks for what it comes from.
  std::optional<std::vector<Dim>> propagated(size_t i) override {
    const GraphValue& v = graph_.value(node_.inputs[i]);
    if (v.known) {
      pass_on(v.known_from);
      return v.known;
    }
    Constant* constant = graph_.constant(node_.inputs[i]);
    if (!constant || !constant->may_be_asked()) return std::nullopt;
    if (!is_integer(constant->dtype) && constant->dtype != DType::Bool) return std::nullopt;
    pass_on({v.constant});
    if (constant->read().ok()) return integer_elements(constant->tensor);
    note_asked(v.constant);  // readable elsewhere, it would give another plan
    return std::nullopt;
  }
  const Tensor* constant(size_t i) override {
    const ConstantId id = graph_.value(node_.inputs[i]).constant;
    if (id == kNone) return nullptr;
    note_asked(id);
    Constant& constant = (*graph_.constants)[static_cast<size_t>(id)];
    return constant.read().ok() ? &constant.tensor : nullptr;
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
  void pass_on(const std::vector<ConstantId>& from) { passed_on_.insert(passed_on_.end(), from.begin(), from.end()); }

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
