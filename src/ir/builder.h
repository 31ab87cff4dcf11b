#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenon {

using Bodies = std::vector<std::shared_ptr<Graph>>;

// The one maker of nodes: import, rules, claims, gradients and tests all make theirs here, so that inference, symbols
// and names are decided in one place. The first failure is kept; after it nodes are made without facts.
class Builder {
 public:
  // Nodes go to the end of the graph.
  explicit Builder(Graph& graph) : graph_(graph) {}

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  const Type& type(ValueId v) const;
  std::optional<int64_t> rank(ValueId v) const;

  // A node with one result. Without params it has the defaults of its op.
  ValueId op(OpId op, std::vector<ValueId> inputs, Params params = {});
  std::vector<ValueId> ops(OpId op, std::vector<ValueId> inputs, Params params, size_t results, Bodies bodies = {});
  // A constant that the graph itself needs (axes, sizes, factors); equal ones are one value. `attribute`: the one of a
  // node that it stands for, if any.
  ValueId literal(const Tensor& tensor, std::string_view attribute = {});
  ValueId integers(const std::vector<int64_t>& values) { return literal(Tensor::of_ints(values)); }
  ValueId scalar(float value, std::string_view attribute = {});

  // What the nodes that follow are called in messages, and the group they belong to.
  void set_name(std::string name) { name_ = std::move(name); }
  void set_group(GroupId group) { group_ = group; }
  void set_made_from(std::shared_ptr<const Provenance> made_from) { made_from_ = std::move(made_from); }

  void fail(Status status);
  const Status& status() const { return status_; }

 protected:
  // Puts a new node where this builder's nodes go.
  virtual void place(NodeId id);
  ~Builder() = default;

 private:
  Graph& graph_;
  std::string name_;
  GroupId group_ = kNone;
  std::shared_ptr<const Provenance> made_from_;
  Status status_;
};

// A builder that appends.
class GraphBuilder final : public Builder {
 public:
  using Builder::Builder;
};

}  // namespace tenon
