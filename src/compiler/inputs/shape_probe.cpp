#include "compiler/inputs/shape_probe.h"

#include <algorithm>
#include <optional>

#include "ops/infer.h"

namespace tenon {

namespace {

using Elements = std::optional<std::vector<Dim>>;
constexpr int64_t kMaxKnownElements = 1024;

Elements integer_elements(const Tensor& tensor) {
  if (tensor.size() > kMaxKnownElements) return std::nullopt;
  std::vector<Dim> result;
  const auto add_all = [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const T x : tensor.as<T>()) result.emplace_back(static_cast<int64_t>(x));
  };
  switch (tensor.dtype()) {
    case DType::Int64:
      add_all(TypeTag<int64_t>{});
      return result;
    case DType::Int32:
      add_all(TypeTag<int32_t>{});
      return result;
    case DType::UInt8:
      add_all(TypeTag<uint8_t>{});
      return result;
    case DType::Bool:
      add_all(TypeTag<bool>{});
      return result;
    default:
      return std::nullopt;
  }
}

// What is known of the values of one graph.
struct Facts {
  explicit Facts(const Graph& g) : graph(g), types(g.value_count()), known(g.value_count()) {}

  const Type* type(ValueId v) const {
    const auto& own = types[v];
    return own ? &*own : &graph.value(v).type;
  }
  Elements elements(ValueId v) const {
    if (known[v]) return known[v];
    const Tensor* tensor = graph.elements_at_hand(v);
    return tensor ? integer_elements(*tensor) : std::nullopt;
  }

  const Graph& graph;
  Table<ValueId, std::optional<Type>> types;  // where they differ from those of the graph
  Table<ValueId, Elements> known;
};

class Walk {
 public:
  explicit Walk(Facts& facts) : facts_(facts) {}

  ProbeResult run() {
    ProbeResult result;
    for (const GraphNode& node : facts_.graph.nodes()) {
      if (!accepts(node)) {
        result.refused = true;
        result.inside = furthest_inside_;
        result.trouble = node.id;
        break;
      }
      for (const ValueId v : node.outputs) result.empty += v != kNone && is_empty(*facts_.type(v));
      result.stretched += stretches(node);
      if (result.empty + result.stretched > 0 && !result.trouble) result.trouble = node.id;
      ++result.accepted;
    }
    return result;
  }
  int64_t rules_run() const { return rules_run_; }

 private:
  class Knowledge final : public InferKnowledge {
   public:
    Knowledge(Walk& walk, const GraphNode& node) : walk_(walk), node_(node) {}
    Elements values(size_t i) override { return walk_.facts_.elements(node_.inputs[i]); }
    Elements propagated(size_t i) override { return values(i); }
    const Tensor* constant(size_t i) override { return walk_.facts_.graph.elements_at_hand(node_.inputs[i]); }
    Dim fresh_symbol() override { return Dim::symbol("?probe" + std::to_string(walk_.fresh_++)); }
    Result<std::vector<Type>> infer_body(size_t body, std::vector<Type>) override {
      return walk_.body_types(node_, body);
    }

   private:
    Walk& walk_;
    const GraphNode& node_;
  };

  static bool is_empty(const Type& type) {
    return type.is_tensor() && is_float(type.dtype) && type.shape && element_count(*type.shape).equals(0);
  }

  static bool broadcasts(OpId op) {
    return op == OpId::Add || op == OpId::Sub || op == OpId::Mul || op == OpId::Div || op == OpId::Where;
  }
  // How many open extents of 1 meet larger ones of a constant.
  size_t stretches(const GraphNode& node) const {
    if (!broadcasts(node.op)) return 0;
    size_t count = 0;
    for (const ValueId weight : node.inputs)
      for (const ValueId v : node.inputs)
        if (v != kNone && weight != kNone && facts_.graph.constant(weight) && !facts_.graph.constant(v))
          count += stretched_axes(v, weight);
    return count;
  }
  size_t stretched_axes(ValueId value, ValueId weight) const {
    const auto &declared = facts_.graph.value(value).type.shape, &now = facts_.type(value)->shape,
               &fixed = facts_.type(weight)->shape;
    if (!declared || !now || !fixed || declared->size() != now->size()) return 0;
    size_t count = 0;
    for (size_t i = 1; i <= std::min(now->size(), fixed->size()); ++i) {
      const Dim &open = (*declared)[now->size() - i], &wide = (*fixed)[fixed->size() - i];
      if (open.is_constant() || !wide.is_constant() || wide.value() < 2) continue;
      count += (*now)[now->size() - i].equals(1);
    }
    return count;
  }

  bool accepts(const GraphNode& node) {
    ++rules_run_;
    if (node.op == OpId::Unsupported) return true;
    branches_.clear();
    furthest_inside_ = 0;
    // Each body once, or nested ones would cost as much as there are paths through them.
    for (size_t i = 0; node.op == OpId::If && i < node.bodies.size(); ++i)
      branches_.push_back(branch_types(*node.bodies[i]));
    Knowledge knowledge(*this, node);
    std::vector<const Type*> inputs;
    for (const ValueId v : node.inputs) inputs.push_back(v == kNone ? nullptr : facts_.type(v));
    InferContext context(node.op, node.params, std::move(inputs), node.outputs.size(), knowledge);
    bool good = infer_op(context).ok();
    // What a body accepts may depend on more than shapes; of an If one branch that accepts them is enough.
    if (!good && !node.bodies.empty() && (node.op != OpId::If || a_branch_accepts())) {
      std::fill(context.outputs().begin(), context.outputs().end(), Type{});
      good = true;
    }
    for (size_t i = 0; good && i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNone) continue;
      facts_.types[node.outputs[i]] = std::move(context.outputs()[i]);
      facts_.known[node.outputs[i]] = std::move(context.output_values()[i]);
    }
    return good;
  }

  using BranchTypes = std::optional<std::vector<Type>>;
  // The output types of a branch; nothing when it refuses its captures.
  BranchTypes branch_types(const Graph& body) {
    Facts inside(body);
    for (const GraphCapture& c : body.captures) {
      inside.types[c.inner] = *facts_.type(c.outer);
      inside.known[c.inner] = facts_.elements(c.outer);
    }
    Walk walk(inside);
    const ProbeResult result = walk.run();
    rules_run_ += walk.rules_run();
    furthest_inside_ = std::max(furthest_inside_, result.accepted + result.inside);
    if (result.refused) return std::nullopt;
    std::vector<Type> types;
    for (const ValueId v : body.outputs()) types.push_back(v == kNone ? Type{} : *inside.type(v));
    return types;
  }

  bool a_branch_accepts() const {
    return std::any_of(branches_.begin(), branches_.end(), [](const BranchTypes& types) { return types.has_value(); });
  }

  Result<std::vector<Type>> body_types(const GraphNode& node, size_t body) {
    if (body >= node.bodies.size()) return invalid_model("sub-graph {} is missing", body);
    if (body < branches_.size()) {
      if (branches_[body]) return *branches_[body];
      // The other one runs then.
      for (const BranchTypes& other : branches_)
        if (other) return *other;
      return invalid_argument("neither branch accepts these shapes");
    }
    std::vector<Type> types;
    for (const ValueId v : node.bodies[body]->outputs())
      types.push_back(v == kNone ? Type{} : node.bodies[body]->value(v).type);
    return types;
  }

  std::vector<BranchTypes> branches_;  // of the If that is looked at
  size_t furthest_inside_ = 0;         // nodes that one of them accepts
  Facts& facts_;
  int fresh_ = 0;
  int64_t rules_run_ = 0;
};

}  // namespace

ProbeResult ShapeProbe::probe(const std::map<std::string, int64_t>& extents) {
  Facts facts(graph_);
  for (const GraphInput& input : graph_.inputs) {
    Type type = graph_.value(input.value).type;
    if (!type.shape) continue;
    for (Dim& dim : *type.shape)
      dim = dim.substitute([&](const std::string& name) -> std::optional<Dim> {
        const auto it = extents.find(name);
        return it == extents.end() ? std::nullopt : std::optional(Dim(it->second));
      });
    facts.types[input.value] = std::move(type);
  }
  Walk walk(facts);
  const ProbeResult result = walk.run();
  rules_run_ += walk.rules_run();
  return result;
}

}  // namespace tenon
