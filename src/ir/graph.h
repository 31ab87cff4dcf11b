#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/constant.h"
#include "ops/op.h"
#include "tensor/type.h"
#include "wire/onnx_model.h"

namespace tenon {

// One place that reads a value.
struct Use {
  enum class Kind : uint8_t {
    Input,    // of a node: its input `index`
    Capture,  // by a body of a node: the body `index`
    Output,   // of the graph: its output `index`
    Slot,     // by the ONNX node that a group will be written as: its input `index`
  };
  Kind kind = Kind::Input;
  NodeId node;    // Input, Capture
  GroupId group;  // Slot
  uint32_t index = 0;
  friend bool operator==(const Use&, const Use&) = default;
};

struct GraphValue {
  std::string name;
  Type type;
  NodeId producer = kNone;                // none for inputs, constants and captures
  ConstantId constant = kNone;            // of the pool
  std::optional<std::vector<Dim>> known;  // elements of a small integer tensor, as far as they are known
  std::vector<ConstantId> known_from;     // the constants that these come from, sorted
  // A constant, or computed from constants by exact ops, of a shape that is known: the weight program can hold it.
  bool folds = false;
  bool in_file = false;   // the model's file has it under this name
  std::vector<Use> uses;  // kept by the graph
  // Symbols for extents that only running tells. Each belongs to a place in the type and stays when it is inferred
  // anew.
  std::vector<std::pair<uint32_t, Dim>> own_symbols;
};

class Graph;

struct GraphNode {
  OpId op{};
  Params params;
  std::vector<ValueId> inputs;   // kNone: absent; the last one is not
  std::vector<ValueId> outputs;  // kNone: nobody wants it
  std::vector<std::shared_ptr<Graph>> bodies;
  std::string name;  // for messages: the ONNX node's name, or one made from op and output
  GroupId group = kNone;
  std::shared_ptr<const Provenance> made_from;  // of nodes that rules made, now or before the file was written
  NodeId id = kNone;                            // its own; kept by the graph, like what follows

  bool is_placed() const { return order_ != kNotPlaced; }

 private:
  friend class Graph;
  static constexpr int64_t kNotPlaced = -1;
  NodeId previous_ = kNone, next_ = kNone;
  int64_t order_ = kNotPlaced;
};

// The canonical nodes that one ONNX node became. It is the unit of writing back: as long as nobody touched it, the node
// is written as it was read.
struct Group {
  const wire::Node* wire = nullptr;  // what was read; null for nodes that a rule made
  std::vector<ValueId> slots;        // by input of the ONNX node, also those that became parameters; kNone: absent
  std::vector<ValueId> slots_as_read;
  std::vector<ValueId> results;  // by output of the ONNX node; kNone: not named
  std::vector<NodeId> nodes;
  GroupId call = kNone;  // of the function call that it is a part of
  bool touched = false;  // a node went, or reads or computes something else
};

struct GraphInput {
  ValueId value = kNone;
  ConstantId default_constant = kNone;  // an initializer that is listed as input
};

struct GraphCapture {
  ValueId outer = kNone;  // a value of the enclosing graph
  ValueId inner = kNone;
};

// The nodes of one scope and their values. Ids stay valid and are never used again. Nodes are made by a Builder and
// replaced by a Patch; the functions for that keep the order of nodes and the lists of uses.
class Graph {
 public:
  template <class NodeType, class GraphType>
  class NodeIterator;
  template <class NodeType, class GraphType>
  class NodeRange;

  std::string name;
  const wire::Graph* wire = nullptr;  // what it was read from; null inside of functions and when it was made otherwise
  bool is_body = false;               // of a node, which may run it any number of times or never
  std::vector<GraphInput> inputs;
  std::vector<GraphCapture> captures;
  std::shared_ptr<ConstantPool> constants = std::make_shared<ConstantPool>();

  // A copy with bodies and constants of its own.
  Graph clone() const;

  ValueId add_value(std::string value_name, Type type);
  ValueId add_constant(Constant constant, std::string value_name);
  // A value that is a constant of the pool; each constant without a name has one in a graph.
  ValueId value_of(ConstantId constant, std::string value_name = {});
  const GraphValue& value(ValueId v) const { return values_[v]; }
  GraphValue& value(ValueId v) { return values_[v]; }
  const auto& values() const { return values_; }
  size_t value_count() const { return values_.size(); }

  // Every node in data-flow order.
  NodeRange<const GraphNode, const Graph> nodes() const;
  NodeRange<GraphNode, Graph> nodes();
  std::vector<NodeId> node_ids() const;
  size_t node_count() const { return placed_; }           // in the graph
  size_t node_id_count() const { return nodes_.size(); }  // ids are below it
  const GraphNode& node(NodeId id) const { return nodes_[id]; }
  GraphNode& node(NodeId id) { return nodes_[id]; }
  bool is_before(NodeId a, NodeId b) const { return nodes_[a].order_ < nodes_[b].order_; }
  NodeId first_node() const { return first_; }
  NodeId last_node() const { return last_; }
  NodeId next_node(NodeId id) const { return nodes_[id].next_; }
  NodeId previous_node(NodeId id) const { return nodes_[id].previous_; }

  const std::vector<ValueId>& outputs() const { return outputs_; }
  const std::vector<std::string>& output_names() const { return output_names_; }
  void add_output(ValueId v, std::string output_name);

  const Group& group(GroupId id) const { return groups_[id]; }
  Group& group(GroupId id) { return groups_[id]; }
  size_t group_count() const { return groups_.size(); }
  GroupId add_group(Group group);

  // The constant that a value is, or null.
  Constant* constant(ValueId v);
  const Constant* constant(ValueId v) const;
  // The elements of a constant that somebody asked for already, or null. For looking only: nothing of the compiled
  // model may follow from them.
  const Tensor* elements_at_hand(ValueId v) const;
  // Whether a small constant has a property, for deciding what the compiled model does. Question and answer are
  // remembered, also a no: weights with another answer need another plan. Unknown for anything else. Ask as late as
  // possible, when nothing but the answer is missing.
  Answer ask(ValueId v, const Property& property, std::string_view asker);
  // The same of literals and Constant nodes alone. For rules that remove what does nothing (times one, plus zero): a
  // weight that is one at the beginning of a training is not one for ever.
  Answer ask_fixed(ValueId v, const Property& property, std::string_view asker);
  // The elements of a small constant, or null, where a decision needs all of them. Elements that cannot be read make
  // compiling fail.
  const Tensor* ask_elements(ValueId v, std::string_view asker);
  // The same for a constant of any size, for inputs that an op cannot do without.
  const Tensor* require(ValueId v, std::string_view asker);
  // Remembers that somebody decided by the elements of a constant.
  void note_asked(ConstantId id, std::string_view asker);

  // --- what Builder and Patch are made of -----------------------------------------------------------------------

  // A node that is not in the graph yet: its values can be looked at, nothing reads them.
  NodeId add_node(GraphNode node);
  // Puts a node before another one; kNone: at the end.
  void place(NodeId node, NodeId before = kNone);
  // Puts a node that is in the graph before another one.
  void move(NodeId node, NodeId before);
  // Takes a node out. Its outputs have no producer any more.
  void remove(NodeId node);
  // Bodies of the node take from outside only what they read. Returns the values that have one reader less.
  std::vector<ValueId> drop_unread_captures(NodeId node);
  // All readers of a value read another one from now on.
  void replace_uses(ValueId old, ValueId other);
  // The output of a placed or new node takes the id of a value, which loses its producer.
  void take_over(ValueId old, NodeId node, size_t output);
  void touch(GroupId group);
  // Forgets the nodes and values that were added last. Only when no node of theirs is placed.
  void truncate(size_t node_count, size_t value_count);

 private:
  void link(GraphNode& node, NodeId before);
  void unlink(GraphNode& node);
  void add_uses(const GraphNode& node);
  void remove_uses(const GraphNode& node);
  void remove_use(ValueId v, const Use& use);
  void number_anew();

  Table<ValueId, GraphValue, std::deque<GraphValue>> values_;  // references stay valid while values are added
  Table<NodeId, GraphNode, std::deque<GraphNode>> nodes_;
  Table<GroupId, Group, std::deque<Group>> groups_;
  std::vector<std::pair<ConstantId, ValueId>> literal_values_;  // sorted
  std::vector<ValueId> outputs_;
  std::vector<std::string> output_names_;
  NodeId first_ = kNone, last_ = kNone;
  size_t placed_ = 0;
};

template <class NodeType, class GraphType>
class Graph::NodeIterator {
 public:
  using value_type = NodeType;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::forward_iterator_tag;
  using pointer = NodeType*;
  using reference = NodeType&;

  NodeIterator() = default;
  NodeIterator(GraphType* graph, NodeId at) : graph_(graph), at_(at) {}
  NodeType& operator*() const { return graph_->node(at_); }
  NodeType* operator->() const { return &graph_->node(at_); }
  NodeIterator& operator++() {
    at_ = graph_->next_node(at_);
    return *this;
  }
  NodeIterator operator++(int) {
    NodeIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const NodeIterator& a, const NodeIterator& b) { return a.at_ == b.at_; }

 private:
  GraphType* graph_ = nullptr;
  NodeId at_ = kNone;
};

template <class NodeType, class GraphType>
class Graph::NodeRange {
 public:
  explicit NodeRange(GraphType& graph) : graph_(&graph) {}
  NodeIterator<NodeType, GraphType> begin() const { return {graph_, graph_->first_node()}; }
  NodeIterator<NodeType, GraphType> end() const { return {graph_, kNone}; }

 private:
  GraphType* graph_;
};

inline Graph::NodeRange<const GraphNode, const Graph> Graph::nodes() const {
  return NodeRange<const GraphNode, const Graph>(*this);
}
inline Graph::NodeRange<GraphNode, Graph> Graph::nodes() { return NodeRange<GraphNode, Graph>(*this); }

}  // namespace tenon
