#include "trials/tolerance/tolerance.h"

#include <algorithm>
#include <cmath>

#include "trials/tolerance/op_rounding.h"

namespace tenon {

namespace {

// The distance of neighbouring numbers around 1; 0 for what is not rounded.
double epsilon(DType dtype) {
  switch (dtype) {
    case DType::Float64:
    case DType::Complex128:
      return 0x1p-52;
    case DType::Float32:
    case DType::Complex64:
      return 0x1p-23;
    case DType::Float16:
      return 0x1p-10;
    case DType::BFloat16:
      return 0x1p-7;
    default:
      return is_float(dtype) ? 0x1p-3 : 0;
  }
}

DType element_dtype(const Type& type) { return type.element ? element_dtype(*type.element) : type.dtype; }

double coarsest(const Graph& graph) {
  double eps = 0;
  for (const GraphNode& node : graph.nodes()) {
    for (const ValueId v : node.outputs)
      if (v != kNone) eps = std::max(eps, epsilon(element_dtype(graph.value(v).type)));
    for (const auto& body : node.bodies) eps = std::max(eps, coarsest(*body));
  }
  return eps;
}

// What lies between the inputs of a graph and one of its values.
struct Path {
  OpRounding rounding;
  double eps = 0;  // of the coarsest type that numbers pass through
};

Path path_to(const Graph& graph, ValueId value) {
  Path path;
  path.eps = epsilon(element_dtype(graph.value(value).type));
  Table<NodeId, bool> seen(graph.node_id_count(), false);
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    const NodeId n = v == kNone ? NodeId(kNone) : graph.value(v).producer;
    if (n == kNone || seen[n]) continue;
    seen[n] = true;
    const GraphNode& node = graph.node(n);
    path.rounding.add(rounding_of(graph, node));
    for (const ValueId output : node.outputs)
      if (output != kNone) path.eps = std::max(path.eps, epsilon(element_dtype(graph.value(output).type)));
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    for (const auto& body : node.bodies) {
      path.eps = std::max(path.eps, coarsest(*body));
      for (const GraphCapture& c : body->captures) open.push_back(c.outer);
    }
  }
  return path;
}

// Steps of 1/127: each quantization may end one beside, and a few in a row do not all point one way.
double quantized_steps(const OpRounding& rounding) {
  return rounding.quantizations == 0 ? 0 : std::min(1.0 + rounding.quantizations, 4.0);
}

double share_of(const Path& path) {
  const OpRounding& r = path.rounding;
  if (r.roundings == 0 || path.eps == 0) return 0;
  // Rounding is no worse than a random walk over all terms; differences may be a thousand times smaller than what they
  // are made of. Types narrower than float are summed in float and rounded once for each node.
  const double units = path.eps <= 0x1p-23 ? 1024 + 8 * r.roundings + 8 * std::sqrt(r.terms) : 8 + r.roundings / 4;
  return std::max(std::min(path.eps * units, 0.1), quantized_steps(r) / 127);
}

bool keeps_order(OpId op) { return op == OpId::Cast || op_def(op).in_place == InPlace::SameElements; }

// Follows indices back through ops that keep the order of elements.
std::optional<ValueTolerance::Choice> choice_of(const Graph& graph, ValueId value) {
  for (NodeId n; (n = graph.value(value).producer) != kNone;) {
    const GraphNode& node = graph.node(n);
    if (node.inputs.empty() || node.inputs[0] == kNone) return std::nullopt;
    const ValueId from = node.inputs[0];
    if (const auto chooses = op_def(node.op).chooses) {
      const ChosenIndices chosen = chooses(node.params);
      if (chosen.output >= node.outputs.size() || node.outputs[chosen.output] != value) return std::nullopt;
      return ValueTolerance::Choice{from, chosen.axis, share_of(path_to(graph, from))};
    }
    if (!keeps_order(node.op)) return std::nullopt;
    value = from;
  }
  return std::nullopt;
}

// Elements that are equal within what rounding explains.
class Ties {
 public:
  Ties(const Tensor& from, const ValueTolerance::Choice& choice, int64_t indices) : from_(from) {
    const auto rank = static_cast<int64_t>(from.dims().size());
    const int64_t axis = choice.axis < 0 ? choice.axis + rank : choice.axis;
    if (axis < 0 || axis >= rank || from.size() == 0) return;
    extent_ = from.dims()[static_cast<size_t>(axis)];
    for (int64_t d = axis + 1; d < rank; ++d) inner_ *= from.dims()[static_cast<size_t>(d)];
    chosen_ = indices / (from.size() / extent_);
    allowed_ = choice.share * largest_magnitude(Value(from));
  }
  bool explain(int64_t position, int64_t a, int64_t b) const {
    if (chosen_ <= 0 || a < 0 || b < 0 || a >= extent_ || b >= extent_) return false;
    const int64_t outer = position / (chosen_ * inner_), inside = position % inner_;
    const auto at = [&](int64_t i) { return element((outer * extent_ + i) * inner_ + inside); };
    return std::abs(at(a) - at(b)) <= allowed_;
  }

 private:
  double element(int64_t i) const {
    return with_element_type(from_.dtype(), [&](auto tag) -> double {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_constructible_v<double, T>)
        return static_cast<double>(from_.as<T>()[static_cast<size_t>(i)]);
      return NAN;
    });
  }

  const Tensor& from_;
  int64_t extent_ = 0, inner_ = 1, chosen_ = 0;
  double allowed_ = 0;
};

template <class T>
int64_t count_ties(const Ties& ties, const Tensor& actual, const Tensor& expected) {
  int64_t count = 0;
  const auto a = actual.as<T>(), b = expected.as<T>();
  for (size_t i = 0; i < a.size(); ++i)
    count +=
        a[i] != b[i] && ties.explain(static_cast<int64_t>(i), static_cast<int64_t>(a[i]), static_cast<int64_t>(b[i]));
  return count;
}

}  // namespace

ValueTolerance tolerance_of(const Graph& graph, ValueId value) {
  ValueTolerance tolerance;
  const Path path = path_to(graph, value);
  const DType dtype = element_dtype(graph.value(value).type);
  tolerance.share = epsilon(dtype) > 0 || dtype == DType::Undefined ? share_of(path) : 0;
  if (!is_integer(dtype)) return tolerance;
  const NodeId maker = graph.value(value).producer;
  if (maker != kNone && rounding_of(graph, graph.node(maker)).quantizations > 0)
    tolerance.steps = quantized_steps(path.rounding);
  tolerance.choice = choice_of(graph, value);
  return tolerance;
}

JudgedComparison compare_within(const ValueTolerance& tolerance, const Value& actual, const Value& expected,
                                const Tensor* chosen_from) {
  // Numbers too small to be normal may be flushed to zero.
  const double tiny = tolerance.share > 0 ? 0x1p-126 : 0;
  const Tolerance within{tolerance.share, tolerance.share * largest_magnitude(expected) + tiny, tolerance.steps};
  JudgedComparison judged{compare_values(actual, expected, within), 0};
  Comparison& c = judged.comparison;
  const Tensor *a = actual.tensor(), *b = expected.tensor();
  if (!tolerance.choice || !chosen_from || !c.comparable || c.mismatches == 0 || !a || !b) return judged;
  if (!is_float(chosen_from->dtype()) || is_sub_byte(chosen_from->dtype())) return judged;
  const Ties ties(*chosen_from, *tolerance.choice, b->size());
  if (b->dtype() == DType::Int64) judged.ties = count_ties<int64_t>(ties, *a, *b);
  if (b->dtype() == DType::Int32) judged.ties = count_ties<int32_t>(ties, *a, *b);
  c.mismatches -= judged.ties;
  return judged;
}

}  // namespace tenon
