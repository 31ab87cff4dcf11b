#include "compiler/targets/cpu/graph_edit.h"

#include "compiler/slot_table.h"

namespace tenon {

GraphEdit::GraphEdit(Graph& graph)
    : graph_(graph), side_(graph, true), producer_(graph.values.size(), kNone), reader_(graph.values.size(), kNone),
      uses_(graph.values.size(), 0), before_(graph.nodes.size()), removed_(graph.nodes.size(), false) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const GraphNode& node = graph.nodes[n];
    const auto id = static_cast<NodeId>(n);
    for (ValueId v : node.inputs) {
      if (v == kNone) continue;
      ++uses_[static_cast<size_t>(v)];
      reader_[static_cast<size_t>(v)] = id;
    }
    // What bodies read is not to be taken away.
    for (const auto& body : node.bodies)
      for (const GraphCapture& c : body->captures) uses_[static_cast<size_t>(c.outer)] += 2;
    for (ValueId v : node.outputs)
      if (v != kNone) producer_[static_cast<size_t>(v)] = id;
  }
  for (ValueId v : graph.outputs)
    if (v != kNone) uses_[static_cast<size_t>(v)] += 2;
}

const Shape* GraphEdit::weight_shape(ValueId v) const {
  if (v == kNone || static_cast<size_t>(v) >= producer_.size() || !side_.holds(v)) return nullptr;
  const Type& t = type(v);
  return t.dtype == DType::Float32 && t.shape && is_static(*t.shape) ? &*t.shape : nullptr;
}

NodeId GraphEdit::only_reader(ValueId v) const {
  return uses_[static_cast<size_t>(v)] == 1 ? reader_[static_cast<size_t>(v)] : kNone;
}

ValueId GraphEdit::constant(Tensor tensor, std::string_view attribute) {
  Constant constant = Constant::of("", std::move(tensor));
  if (!attribute.empty()) constant.asker = std::string(kAttributeAsker).append(attribute);
  return graph_.add_constant(std::move(constant), "");
}

ValueId GraphEdit::emit(OpId op, Params params, std::vector<ValueId> inputs) {
  return emit(op, std::move(params), std::move(inputs), node(place_).name);
}

ValueId GraphEdit::emit(OpId op, Params params, std::vector<ValueId> inputs, std::string name) {
  const ValueId result = graph_.add_value("", Type{});
  emit_into(op, std::move(params), std::move(inputs), {result}, std::move(name));
  int no_symbols = 0;
  Status status = infer_node(graph_, before_[static_cast<size_t>(place_)].back(), no_symbols);
  if (status_.ok()) status_ = std::move(status);
  return result;
}

void GraphEdit::emit_into(OpId op, Params params, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
                          std::string name) {
  GraphNode made;
  made.op = op;
  made.params = params.erased() ? std::move(params) : default_params(op);
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  made.name = std::move(name);
  before_[static_cast<size_t>(place_)].push_back(std::move(made));
}

namespace {

// Nodes in an order that respects data flow and otherwise stays as it is.
class FlowOrder {
 public:
  FlowOrder(std::vector<GraphNode>& nodes, size_t values) : nodes_(nodes), maker_(values, kNone), done_(nodes.size()) {
    for (size_t n = 0; n < nodes.size(); ++n)
      for (ValueId v : nodes[n].outputs)
        if (v != kNone) maker_[static_cast<size_t>(v)] = static_cast<NodeId>(n);
  }

  std::vector<GraphNode> sorted() {
    std::vector<GraphNode> result;
    for (size_t n = 0; n < nodes_.size(); ++n) {
      std::vector<size_t> open{n};
      while (!open.empty()) {
        const size_t node = open.back();
        const size_t before = open.size();
        if (!done_[node]) add_makers(nodes_[node], open);
        if (open.size() > before) continue;
        open.pop_back();
        if (!done_[node]) result.push_back(std::move(nodes_[node]));
        done_[node] = true;
      }
    }
    return result;
  }

 private:
  void add_makers(const GraphNode& node, std::vector<size_t>& open) const {
    const auto add = [&](ValueId v) {
      const NodeId maker = v == kNone ? kNone : maker_[static_cast<size_t>(v)];
      if (maker != kNone && !done_[static_cast<size_t>(maker)]) open.push_back(static_cast<size_t>(maker));
    };
    for (ValueId v : node.inputs) add(v);
    for (const auto& body : node.bodies)
      for (const GraphCapture& c : body->captures) add(c.outer);
  }

  std::vector<GraphNode>& nodes_;
  std::vector<NodeId> maker_;
  std::vector<bool> done_;
};

}  // namespace

Status GraphEdit::finish() {
  std::vector<GraphNode> nodes;
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    for (GraphNode& made : before_[n]) nodes.push_back(std::move(made));
    if (!removed_[n]) nodes.push_back(std::move(graph_.nodes[n]));
  }
  graph_.nodes = FlowOrder(nodes, graph_.values.size()).sorted();
  for (size_t n = 0; n < graph_.nodes.size(); ++n)
    for (ValueId v : graph_.nodes[n].outputs)
      if (v != kNone) graph_.value(v).producer = static_cast<NodeId>(n);
  return std::move(status_);
}

namespace {

Graph clone_with(const Graph& graph, const std::shared_ptr<ConstantPool>& constants) {
  Graph copy = graph;
  copy.constants = constants;
  for (GraphNode& node : copy.nodes)
    for (auto& body : node.bodies) body = std::make_shared<Graph>(clone_with(*body, constants));
  return copy;
}

}  // namespace

Graph clone_graph(const Graph& graph) { return clone_with(graph, std::make_shared<ConstantPool>(*graph.constants)); }

}  // namespace tenon
