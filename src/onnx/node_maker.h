#pragma once

#include <deque>
#include <unordered_set>

#include "ir/patch.h"
#include "onnx/export_memory.h"
#include "onnx/node_alone.h"

namespace tenon {

// Makes ONNX nodes for rules, where one op says what several canonical nodes compute. What was made must stay as long
// as the graph and the model that is written from it.
class NodeMaker {
 public:
  // opsets: what the model imports, and what it may import in addition.
  NodeMaker(const ImportedModel& model, NodeAlone::Opsets opsets);

  // The version of a domain that the model imports or may import; 0: none.
  int64_t version(std::string_view domain) const;
  // The attributes of nodes to be made.
  wire::MessageBuilder& messages() { return memory_.messages; }

  // Makes the canonical nodes of an ONNX node in a patch, as a group that is written as this node. Returns the node's
  // results by output. The patch fails when the model has no such op, or when the node could fail for shapes that are
  // not known yet.
  std::vector<ValueId> make(Patch& patch, const OnnxNode& node);

 private:
  const wire::Node* keep(const OnnxNode& node);
  bool is_available(const OnnxNode& node) const;

  NodeAlone::Opsets opsets_;
  int64_t ir_version_;
  std::unordered_set<std::string> functions_;  // by function_key; their names mean something else in this model
  ExportMemory memory_;
  std::deque<wire::Node> nodes_;
};

}  // namespace tenon
