#pragma once

#include <optional>
#include <set>
#include <unordered_set>

#include "onnx/node_alone.h"
#include "onnx/node_draft.h"

namespace tenon {

// How ONNX says what a canonical node does: the way back from the canonical form.
struct Spelling {
  std::string_view domain, op_type;
  std::vector<ValueId> inputs;  // those of the canonical node that are inputs here too, perhaps in another order
  std::vector<wire::Attribute> attributes;
  std::vector<std::string_view> bodies;  // the attributes that the bodies are to be written as
  std::vector<bool> outputs;             // which ones have to have a name
  Params params;                         // what reading it gives
  std::vector<NodeId> covered;           // nodes before this one that reading it gives too
};

using NodeSet = std::set<NodeId>;

// True when something besides these nodes reads the value.
bool is_read(const GraphValue& value, const NodeSet& unread);

// The domains that a model imports and may import; what it imports wins.
NodeAlone::Opsets with_more(const ImportedModel& model, const NodeAlone::Opsets& more);

// Finds spellings. A spelling counts only when reading it gives the canonical node again, so versions and defaults need
// no table: a form that a version does not have is read as something else or not at all. Reading it may also give nodes
// that compute the node's inputs, when these are nodes of the graph.
class Speller {
 public:
  // more: domains that the model may import in addition.
  Speller(const ImportedModel& model, ExportMemory& memory, const NodeAlone::Opsets& more = {});

  // Nothing when no version that the model imports can say it. unread: nodes that are not written.
  std::optional<Spelling> spell(const Graph& graph, const GraphNode& node, const NodeSet& unread = {}) const;

 private:
  struct Form;
  std::vector<Form> forms(const Graph& graph, const GraphNode& node) const;
  std::optional<Spelling> written(const Graph& graph, const GraphNode& node, const NodeSet& unread,
                                  const Form& form) const;
  bool reads_back(const Graph& graph, const GraphNode& node, Spelling& spelling) const;
  bool is_available(std::string_view domain, std::string_view op_type) const;

  const ImportedModel& model_;
  const NodeAlone::Opsets opsets_;
  ExportMemory& memory_;
  std::unordered_set<std::string> functions_;  // by function_key; their names mean something else in this model
};

}  // namespace tenon
