#include "ir/infer_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "ops/infer.h"

namespace tenon {

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
  GraphKnowledge(Graph& graph, const GraphNode& node) : graph_(graph), node_(node) {}

  // Shapes follow from these, so a plan does too.
  std::optional<std::vector<Dim>> values(size_t i) override {
    const GraphValue& v = graph_.value(node_.inputs[i]);
    if (v.known) {
      pass_on(v.known_from);
      for (ConstantId id : v.known_from) note_asked(id);
      return v.known;
    }
    const Tensor* t = constant(i);
    if (t) pass_on(v.constant == kNone ? constants_behind(node_.inputs[i]) : std::vector{v.constant});
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
    if (id == kNone) return evaluated(node_.inputs[i]);
    note_asked(id);
    Constant& constant = (*graph_.constants)[id];
    return constant.read().ok() ? &constant.tensor : nullptr;
  }
  // The constants that the elements of outputs may come from.
  std::vector<ConstantId> passed_on() {
    std::ranges::sort(passed_on_);
    passed_on_.erase(std::unique(passed_on_.begin(), passed_on_.end()), passed_on_.end());
    return passed_on_;
  }
  Dim fresh_symbol() override {
    provisional_.push_back(kProvisional + std::to_string(provisional_.size()));
    return Dim::symbol(provisional_.back());
  }
  // Symbols that wait for the value they belong to.
  const std::vector<std::string>& provisional() const { return provisional_; }
  Result<std::vector<Type>> infer_body(size_t body, std::vector<Type>) override {
    if (body >= node_.bodies.size()) return invalid_model("sub-graph {} is missing", body);
    std::vector<Type> types;
    for (ValueId v : node_.bodies[body]->outputs())
      types.push_back(v == kNone ? Type{} : node_.bodies[body]->value(v).type);
    return types;
  }

 private:
  // A small value that depends on small constants alone.
  const Tensor* evaluated(ValueId v) {
    const GraphValue& value = graph_.value(v);
    if (!value.folds || !graph_.constants->evaluate) return nullptr;
    if (*storage_bytes(value.type.dtype, element_count(*value.type.shape).value()) > kMostAskedBytes) return nullptr;
    const std::vector<ConstantId> from = constants_behind(v);
    if (!std::ranges::all_of(from, [&](ConstantId id) { return (*graph_.constants)[id].may_be_asked(); }))
      return nullptr;
    for (ConstantId id : from) note_asked(id);
    auto tensor = graph_.constants->evaluate(graph_, v);
    return tensor.ok() ? &evaluated_.emplace_back(std::move(*tensor)) : nullptr;
  }

  std::vector<ConstantId> constants_behind(ValueId v) const {
    std::set<ValueId> seen;
    std::vector<ConstantId> found;
    std::vector<ValueId> open{v};
    while (!open.empty()) {
      const ValueId at = open.back();
      open.pop_back();
      if (at == kNone || !seen.insert(at).second) continue;
      const GraphValue& value = graph_.value(at);
      if (value.constant != kNone)
        found.push_back(value.constant);
      else if (value.producer != kNone)
        open.insert(open.end(), graph_.node(value.producer).inputs.begin(), graph_.node(value.producer).inputs.end());
    }
    return found;
  }

  static constexpr const char* kProvisional = "?provisional";

  void note_asked(ConstantId id) { graph_.note_asked(id, fmt::format("the shape rule of {}", op_def(node_.op).name)); }
  void pass_on(const std::vector<ConstantId>& from) { passed_on_.insert(passed_on_.end(), from.begin(), from.end()); }

  Graph& graph_;
  const GraphNode& node_;
  std::vector<ConstantId> passed_on_;
  std::vector<std::string> provisional_;
  std::deque<Tensor> evaluated_;
};

// Gives provisional symbols to the values and places where they stand first, so that the same place has the same symbol
// however often a node is inferred.
class SymbolOwners {
 public:
  SymbolOwners(Graph& graph, const std::vector<std::string>& provisional) : graph_(graph) {
    for (const std::string& name : provisional) owned_.emplace(name, std::nullopt);
  }

  void settle(ValueId v, Type& type, std::optional<std::vector<Dim>>& known) {
    uint32_t place = 0;
    settle_type(v, type, place);
    if (known)
      for (Dim& d : *known) settle_dim(v, d, place);
  }

 private:
  void settle_type(ValueId v, Type& type, uint32_t& place) {
    if (type.shape)
      for (Dim& d : *type.shape) settle_dim(v, d, place);
    if (!type.element) return;
    Type element = *type.element;
    settle_type(v, element, place);
    type.element = std::make_shared<const Type>(std::move(element));
  }

  void settle_dim(ValueId v, Dim& dim, uint32_t& place) {
    ++place;
    if (dim.is_constant()) return;
    dim = dim.substitute([&](const std::string& name) -> std::optional<Dim> {
      const auto it = owned_.find(name);
      if (it == owned_.end()) return std::nullopt;
      if (!it->second) it->second = symbol_at(v, place);
      return it->second;
    });
  }

  Dim symbol_at(ValueId v, uint32_t place) {
    auto& own = graph_.value(v).own_symbols;
    // Several symbols in one expression have a place each.
    const auto is_taken = [&](const Dim& d) {
      return std::ranges::any_of(owned_, [&](const auto& entry) { return entry.second && *entry.second == d; });
    };
    for (const auto& [at, symbol] : own)
      if (at == place && !is_taken(symbol)) return symbol;
    own.emplace_back(place, graph_.constants->new_symbol());
    return own.back().second;
  }

  Graph& graph_;
  std::map<std::string, std::optional<Dim>> owned_;
};

// Whether a node depends on constants alone and can be computed with them. A body may never run, so nothing that fails
// is taken out of one.
bool folds(const Graph& graph, const GraphNode& node) {
  const OpDef& def = op_def(node.op);
  if (!def.fits_weight_program() || node.outputs.empty() || (graph.is_body && def.can_fail)) return false;
  bool reads_constants = false;
  for (ValueId v : node.inputs) {
    if (v == kNone) continue;
    if (!graph.value(v).folds || graph.value(v).type.dtype == DType::String) return false;
    reads_constants = true;
  }
  return reads_constants;
}

bool has_fixed_bytes(const Type& type) {
  return type.is_tensor() && type.dtype != DType::Undefined && type.dtype != DType::String && type.shape &&
         is_static(*type.shape) && storage_bytes(type.dtype, element_count(*type.shape).value());
}

}  // namespace

Result<std::vector<Facts>> inferred_facts(Graph& graph, const GraphNode& node) {
  GraphKnowledge knowledge(graph, node);
  std::vector<const Type*> inputs;
  for (ValueId v : node.inputs) inputs.push_back(v == kNone ? nullptr : &graph.value(v).type);
  InferContext context(node.op, node.params, std::move(inputs), node.outputs.size(), knowledge);
  TN_RETURN_IF_ERROR(infer_op(context));
  const bool depends_on_constants = folds(graph, node);
  SymbolOwners owners(graph, knowledge.provisional());
  std::vector<Facts> facts(node.outputs.size());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    Facts& f = facts[i];
    f.type = std::move(context.outputs()[i]);
    f.known = std::move(context.output_values()[i]);
    if (!knowledge.provisional().empty()) owners.settle(node.outputs[i], f.type, f.known);
    if (f.known) f.known_from = knowledge.passed_on();
    f.folds = depends_on_constants && has_fixed_bytes(f.type);
  }
  return facts;
}

Status infer_node(Graph& graph, const GraphNode& node) {
  TN_ASSIGN_OR_RETURN(std::vector<Facts> facts, inferred_facts(graph, node));
  for (size_t i = 0; i < facts.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    GraphValue& v = graph.value(node.outputs[i]);
    v.type = std::move(facts[i].type);
    v.known = std::move(facts[i].known);
    v.known_from = std::move(facts[i].known_from);
    v.folds = facts[i].folds;
  }
  return {};
}

}  // namespace tenon
