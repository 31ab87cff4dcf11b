// An If whose condition is constant is its branch.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "passes/normalize/rules.h"
#include "passes/normalize/structural.h"
#include "passes/normalize/whole_node.h"

namespace tenon {

namespace {

using ConstantIds = std::set<ConstantId>;

// Constants that the file keeps inside of a body: nobody around it knows their names.
ConstantIds constants_of(const Graph& body, bool with_nodes) {
  std::set<std::string_view> names;
  if (body.wire) {
    for (const wire::TensorProto& tensor : body.wire->initializers) names.insert(tensor.name);
    for (const wire::SparseTensorProto& tensor : body.wire->sparse_initializers) names.insert(tensor.values.name);
    if (with_nodes)
      for (const wire::Node& node : body.wire->nodes) names.insert(node.outputs.begin(), node.outputs.end());
  }
  ConstantIds ids;
  for (const GraphValue& v : body.values())
    if (v.constant != kNone && v.in_file && names.contains(v.name)) ids.insert(v.constant);
  return ids;
}

bool is_read(const Graph& graph, const ConstantIds& constants) {
  return std::ranges::any_of(graph.values(),
                             [&](const GraphValue& v) { return constants.contains(v.constant) && !v.uses.empty(); }) ||
         std::ranges::any_of(graph.nodes(), [&](const GraphNode& node) {
           return std::ranges::any_of(node.bodies, [&](const auto& body) { return is_read(*body, constants); });
         });
}

// A weight outside of its branch would have another name, and checkpoints would not find it.
bool reads_own_weights(const Graph& body) {
  ConstantIds weights = constants_of(body, false);
  std::erase_if(weights, [&](ConstantId id) { return is_structural((*body.constants)[id]); });
  return is_read(body, weights);
}

// Whether some of its nodes are written as the call of a function.
bool has_calls(const Graph& body) {
  return std::ranges::any_of(body.nodes(), [&](const GraphNode& node) {
    if (std::ranges::any_of(node.bodies, [](const auto& inner) { return has_calls(*inner); })) return true;
    if (node.group == kNone || body.group(node.group).call == kNone) return false;
    GroupId call = body.group(node.group).call;
    while (body.group(call).call != kNone) call = body.group(call).call;
    return !body.group(call).touched;
  });
}

// Makes the nodes of a body in the graph around it.
class BodyInlining {
 public:
  BodyInlining(Patch& patch, const Graph& body, bool keeps_nodes)
      : patch_(patch), body_(body), own_(constants_of(body, true)), keeps_nodes_(keeps_nodes && patch.graph().wire) {
    for (const GraphCapture& c : body.captures) outside_[c.inner] = c.outer;
  }

  void run() {
    std::map<GroupId, std::vector<NodeId>> made_by_group;
    for (const GraphNode& node : body_.nodes()) {
      std::vector<ValueId> inputs;
      for (ValueId v : node.inputs) inputs.push_back(value(v));
      Bodies bodies;
      for (const auto& inner : node.bodies) {
        auto copy = copy_of(*inner);
        for (GraphCapture& c : copy->captures) c.outer = value(c.outer);
        bodies.push_back(std::move(copy));
      }
      patch_.set_name(node.name);
      const auto made = patch_.ops(node.op, std::move(inputs), node.params, node.outputs.size(), std::move(bodies));
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNone) outside_[node.outputs[i]] = made[i];
      if (!made.empty() && keeps_nodes_ && moves_whole(body_, node.group))
        made_by_group[node.group].push_back(patch_.graph().value(made[0]).producer);
    }
    for (const auto& [group, nodes] : made_by_group) add_group(body_.group(group), nodes);
  }

  ValueId value(ValueId inside) {
    if (inside == kNone) return kNone;
    if (const auto it = outside_.find(inside); it != outside_.end()) return it->second;
    return outside_[inside] = constant(body_.value(inside));
  }

 private:
  void add_group(const Group& read, std::vector<NodeId> nodes) {
    Group group;
    group.wire = read.wire;
    for (ValueId v : read.slots) group.slots.push_back(value(v));
    for (ValueId v : read.results) group.results.push_back(value(v));
    group.nodes = std::move(nodes);
    patch_.add_group(std::move(group));
  }

  // What the file has around the body keeps its name there.
  ValueId constant(const GraphValue& inside) {
    Graph& graph = patch_.graph();
    const bool is_around = inside.in_file && !own_.contains(inside.constant);
    for (size_t i = 0; is_around && i < graph.value_count(); ++i)
      if (const ValueId v(i); graph.value(v).constant == inside.constant && graph.value(v).in_file) return v;
    const ValueId v = graph.value_of(inside.constant, inside.name);
    graph.value(v).in_file = is_around;
    return v;
  }

  // Bodies inside of the branch write the constants of the branch themselves.
  std::shared_ptr<Graph> copy_of(const Graph& inner) const {
    auto copy = std::make_shared<Graph>(inner);
    for (size_t i = 0; i < copy->value_count(); ++i)
      if (GraphValue& v = copy->value(ValueId(i)); own_.contains(v.constant)) v.in_file = false;
    for (GraphNode& node : copy->nodes())
      for (auto& body : node.bodies) body = copy_of(*body);
    return copy;
  }

  Patch& patch_;
  const Graph& body_;
  ConstantIds own_;
  bool keeps_nodes_;
  std::unordered_map<ValueId, ValueId> outside_;
};

Attempt match_constant_if(Graph& graph, NodeId root, bool for_onnx) {
  const GraphNode& node = graph.node(root);
  const Answer is_false = graph.ask(node.inputs[0], {Property::Kind::AllZero}, "inline_constant_if");
  if (is_false == Answer::Unknown) return Attempt::none();
  const Graph& body = *node.bodies[is_false == Answer::Yes ? 1 : 0];
  if (for_onnx && has_calls(body)) return Attempt::no("its branch calls a function that stays a call");
  if (reads_own_weights(body)) return Attempt::no("its branch has weights of its own, which would lose their names");
  auto patch = std::make_unique<Patch>(graph, root, "inline_constant_if");
  patch->set_reason(is_false == Answer::Yes ? "its condition is always false" : "its condition is always true");
  BodyInlining inlining(*patch, body, for_onnx);
  inlining.run();
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    const ValueId result = inlining.value(body.outputs()[i]);
    if (patch->is_new(result) && graph.value(result).producer != kNone)
      patch->redefine(node.outputs[i], result);
    else
      patch->forward(node.outputs[i], result);
  }
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule inline_constant_if(bool for_onnx) {
  const auto match = [for_onnx](Graph& graph, NodeId root) { return match_constant_if(graph, root, for_onnx); };
  return {"inline_constant_if", {OpId::If}, match, 2};
}

}  // namespace tenon
