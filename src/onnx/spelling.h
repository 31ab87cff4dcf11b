#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onnx/graph_importer.h"
#include "wire/onnx_build.h"

namespace tenon {

// How ONNX says what a canonical node does: the way back from the canonical form.
struct Spelling {
  std::string_view domain, op_type;
  std::vector<ValueId> inputs;  // those of the canonical node that are inputs here too; the others are attributes
  std::vector<wire::Attribute> attributes;
};

// Finds spellings. A spelling counts only when reading it gives the canonical node again, so versions and defaults need
// no table: what a version cannot say is not read back as it was.
class Speller {
 public:
  Speller(const ImportedModel& model, const OpsetVersions& opsets, wire::MessageBuilder& messages);

  // Nothing when no version that the model imports can say it. Attributes with the node's bodies are not part of it.
  std::optional<Spelling> spell(const Graph& graph, const GraphNode& node);

 private:
  struct Form;
  std::vector<Form> forms(const GraphNode& node) const;
  std::optional<Spelling> written(const Graph& graph, const GraphNode& node, const Form& form);
  bool reads_back(const Graph& graph, const GraphNode& node, const Spelling& spelling) const;

  const ImportedModel& model_;
  const OpsetVersions& opsets_;
  wire::MessageBuilder& messages_;
};

// The message of a tensor, whose bytes stay where they are.
wire::TensorProto tensor_message(wire::MessageBuilder& messages, std::string_view name, const Tensor& tensor);
// The attributes that hold the bodies of an op, in the order of the bodies.
std::vector<std::string_view> body_attributes(OpId op);

}  // namespace tenon
