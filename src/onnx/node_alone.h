#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "onnx/import.h"

namespace tenon {

// An ONNX node by the values of a graph that it reads.
struct OnnxNode {
  std::string_view domain, op_type;
  std::vector<ValueId> inputs;  // kNone: absent
  std::vector<wire::Attribute> attributes;
  std::vector<bool> outputs{true};  // which ones have a name
};

// What an ONNX node is read as: a graph of its own, with all that is known of its inputs.
class NodeAlone {
 public:
  using Opsets = std::unordered_map<std::string, int64_t>;

  NodeAlone(const Graph& graph, const OnnxNode& node, const Opsets& opsets, int64_t ir_version)
      : graph_(graph), node_(node), opsets_(opsets) {
    alone_.wire.ir_version = ir_version;
  }
  NodeAlone(const NodeAlone&) = delete;
  NodeAlone& operator=(const NodeAlone&) = delete;

  Status read();

  const Graph& graph() const { return alone_.graph; }
  // The nodes that compute something; the others state what the ONNX node requires of its inputs.
  const std::vector<NodeId>& computing() const { return computing_; }
  // By output of the ONNX node; kNone: not named.
  const std::vector<ValueId>& results() const;
  // The value of the graph around it that a value stands for; kNone: it is computed, or a constant of the node's own.
  ValueId original(ValueId v) const;

 private:
  ValueId copy_of(ValueId v);

  const Graph& graph_;
  const OnnxNode& node_;
  const Opsets& opsets_;
  ImportedModel alone_;
  std::vector<NodeId> computing_;
  std::map<ValueId, ValueId> originals_;
};

}  // namespace tenon
