#include "trials/inputs/accepted_values.h"

#include <algorithm>

#include "trials/inputs/accepted_rules.h"

namespace tenon {

void Accepted::restrict_to(const Accepted& other) {
  const double new_low = std::max(low, other.low), new_high = std::min(high, other.high);
  if (new_low <= new_high) {
    low = new_low;
    high = new_high;
  }
  if (form == Form::Any) form = other.form;
  numeric_text |= other.numeric_text;
  if (words.empty()) words = other.words;
  if (numbers.empty()) numbers = other.numbers;
  for (const auto& [column, accepted] : other.columns) columns[column].restrict_to(accepted);
}

namespace {

// Reads fields by name; leaves everything as it is.
class FieldFinder final : public FieldVisitor {
 public:
  explicit FieldFinder(std::string_view name) : name_(name) {}
  void field(const char* name, int64_t& value) override { take(name, value, integer); }
  void field(const char*, float&) override {}
  void field(const char*, std::string&) override {}
  void field(const char* name, std::vector<int64_t>& value) override { take(name, value, integers); }
  void field(const char*, std::vector<float>&) override {}
  void field(const char* name, std::vector<std::string>& value) override { take(name, value, words); }
  void field(const char* name, Tensor& value) override { take(name, value, tensor); }

  std::optional<int64_t> integer;
  std::optional<std::vector<int64_t>> integers;
  std::optional<std::vector<std::string>> words;
  std::optional<Tensor> tensor;

 private:
  template <class T>
  void take(const char* name, const T& value, std::optional<T>& target) {
    if (name_ == name) target = value;
  }
  void optional_field(const char*, bool&) override {}
  std::string_view name_;
};

FieldFinder find_field(const GraphNode& node, const char* name) {
  FieldFinder finder(name);
  const OpDef& def = op_def(node.op);
  if (node.params.erased() && def.copy_params) def.visit_params(def.copy_params(node.params.erased()).get(), finder);
  return finder;
}

AcceptedValues accepted_in(const Graph& graph, AcceptedValues accepted, const KnownDims& dims);

// What bodies accept of the values they capture and of the node's own inputs.
void restrict_by_bodies(const Graph& graph, const GraphNode& node, AcceptedValues& accepted, const KnownDims& dims) {
  for (const auto& body : node.bodies) {
    AcceptedValues inside(body->value_count());
    for (size_t i = 0; node.op == OpId::If && i < body->outputs().size() && i < node.outputs.size(); ++i)
      if (body->outputs()[i] != kNone && node.outputs[i] != kNone)
        inside[body->outputs()[i]] = accepted[node.outputs[i]];
    inside = accepted_in(*body, std::move(inside), dims);
    for (const GraphCapture& c : body->captures) accepted[c.outer].restrict_to(inside[c.inner]);
    // Loop, Scan and SequenceMap hand their inputs to the body, the last ones to the last ones.
    const size_t count = std::min(body->inputs.size(), node.inputs.size());
    for (size_t i = 1; i <= count; ++i) {
      const ValueId outer = node.inputs[node.inputs.size() - i];
      const ValueId inner = body->inputs[body->inputs.size() - i].value;
      if (outer == kNone || graph.value(outer).type.dtype != body->value(inner).type.dtype) continue;
      accepted[outer].restrict_to(inside[inner]);
    }
  }
}

AcceptedValues accepted_in(const Graph& graph, AcceptedValues accepted, const KnownDims& dims) {
  accepted.resize(graph.value_count());
  for (NodeId id = graph.last_node(); id != kNone; id = graph.previous_node(id)) {
    const GraphNode& node = graph.node(id);
    restrict_by_bodies(graph, node, accepted, dims);
    const ConsumerView consumer{graph, node, accepted, dims};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNone) continue;
      for (const auto rule : {accepted_as_number, accepted_as_index, accepted_as_shape})
        if (const auto limits = rule(consumer, i)) accepted[node.inputs[i]].restrict_to(*limits);
    }
  }
  return accepted;
}

}  // namespace

std::vector<Accepted> accepted_inputs(const Graph& graph, const KnownDims& dims) {
  const AcceptedValues accepted = accepted_in(graph, {}, dims);
  std::vector<Accepted> result;
  for (const GraphInput& input : graph.inputs) result.push_back(accepted[input.value]);
  return result;
}

const Type* ConsumerView::type(size_t input) const {
  if (input >= node.inputs.size() || node.inputs[input] == kNone) return nullptr;
  return &graph.value(node.inputs[input]).type;
}

std::optional<int64_t> ConsumerView::rank(size_t input) const {
  const Type* t = type(input);
  if (!t || !t->shape) return std::nullopt;
  return static_cast<int64_t>(t->shape->size());
}

std::optional<int64_t> ConsumerView::extent(size_t input, int64_t axis) const {
  const auto r = rank(input);
  if (!r) return std::nullopt;
  if (axis < 0) axis += *r;
  if (axis < 0 || axis >= *r) return std::nullopt;
  const Dim& dim = (*type(input)->shape)[axis];
  return dim
      .substitute([&](const std::string& name) -> std::optional<Dim> {
        const auto value = dims(name);
        return value ? std::optional(Dim(*value)) : std::nullopt;
      })
      .constant();
}

std::optional<double> ConsumerView::constant(size_t input) const {
  if (!type(input)) return std::nullopt;
  const Constant* constant = graph.constant(node.inputs[input]);
  if (!constant || !constant->may_be_asked() || is_sub_byte(constant->dtype) || constant->dtype == DType::String)
    return std::nullopt;
  const auto tensor = constant->value();
  if (!tensor.ok() || tensor->size() != 1) return std::nullopt;
  return with_element_type(tensor->dtype(), [&](auto tag) -> std::optional<double> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_constructible_v<double, T>) return static_cast<double>(tensor->as<T>()[0]);
    return std::nullopt;
  });
}

int64_t ConsumerView::integer_param(const char* name, int64_t otherwise) const {
  return find_field(node, name).integer.value_or(otherwise);
}

std::vector<std::string> ConsumerView::words_param(const char* name) const {
  FieldFinder found = find_field(node, name);
  if (found.words) return *found.words;
  if (!found.tensor || found.tensor->dtype() != DType::String) return {};
  return {found.tensor->as<std::string>().begin(), found.tensor->as<std::string>().end()};
}

std::vector<int64_t> ConsumerView::integers_param(const char* name) const {
  FieldFinder found = find_field(node, name);
  if (found.integers) return *found.integers;
  if (!found.tensor || found.tensor->dtype() != DType::Int64) return {};
  return {found.tensor->as<int64_t>().begin(), found.tensor->as<int64_t>().end()};
}

Accepted ConsumerView::output(size_t i) const {
  if (i >= node.outputs.size() || node.outputs[i] == kNone) return {};
  return accepted[node.outputs[i]];
}

}  // namespace tenon
