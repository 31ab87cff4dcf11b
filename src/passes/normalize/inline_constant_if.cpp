// An If whose condition is constant is its branch.
#include <algorithm>
#include <unordered_map>

#include "passes/normalize/rules.h"

namespace tenon {

namespace {

// Makes the nodes of a body in the graph around it.
class BodyInlining {
 public:
  BodyInlining(Patch& patch, const Graph& body) : patch_(patch), body_(body) {
    for (const GraphCapture& c : body.captures) outside_[c.inner] = c.outer;
  }

  void run() {
    for (const GraphNode& node : body_.nodes()) {
      std::vector<ValueId> inputs;
      for (ValueId v : node.inputs) inputs.push_back(value(v));
      Bodies bodies;
      for (const auto& inner : node.bodies) {
        auto copy = std::make_shared<Graph>(*inner);
        for (GraphCapture& c : copy->captures) c.outer = value(c.outer);
        bodies.push_back(std::move(copy));
      }
      patch_.set_name(node.name);
      const auto made = patch_.ops(node.op, std::move(inputs), node.params, node.outputs.size(), std::move(bodies));
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNone) outside_[node.outputs[i]] = made[i];
    }
  }

  ValueId value(ValueId inside) {
    if (inside == kNone) return kNone;
    if (const auto it = outside_.find(inside); it != outside_.end()) return it->second;
    const GraphValue& v = body_.value(inside);
    return outside_[inside] = patch_.graph().value_of(v.constant, v.name);
  }

 private:
  Patch& patch_;
  const Graph& body_;
  std::unordered_map<ValueId, ValueId> outside_;
};

// Constants of a branch that the file keeps inside of it under names of their own.
bool has_own_weights(const Graph& body) {
  return body.wire && (!body.wire->initializers.empty() || !body.wire->sparse_initializers.empty());
}

Attempt match_constant_if(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const Answer is_false = graph.ask(node.inputs[0], {Property::Kind::AllZero}, "inline_constant_if");
  if (is_false == Answer::Unknown) return Attempt::none();
  const Graph& body = *node.bodies[is_false == Answer::Yes ? 1 : 0];
  if (has_own_weights(body)) return Attempt::no("its branch has initializers of its own");
  auto patch = std::make_unique<Patch>(graph, root, "inline_constant_if");
  patch->set_reason(is_false == Answer::Yes ? "its condition is always false" : "its condition is always true");
  BodyInlining inlining(*patch, body);
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

Rule inline_constant_if() { return {"inline_constant_if", {OpId::If}, match_constant_if}; }

}  // namespace tenon
