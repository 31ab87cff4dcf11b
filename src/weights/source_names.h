#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "wire/onnx_model.h"

// What the weights of a model are called: `scope/name`, the same for a compile of it and for a source of new weights.
namespace tenon {

// The default domain has two names.
inline std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}
// What tells functions of a model apart.
std::string function_key(std::string_view domain, std::string_view name, std::string_view overload);
// What messages call a node: its name, or one made from its op and its first output.
std::string readable_name(const wire::Node& node);

// Whether lists and tensors among the node's attributes were learned: coefficients, trees, labels, a vocabulary.
bool has_learned_attributes(const wire::Node& node);

// What may be a weight of a model; one of the three is set.
struct NamedWeight {
  std::string name;
  const wire::TensorProto* tensor = nullptr;
  const wire::SparseTensorProto* sparse = nullptr;
  const wire::Attribute* attribute = nullptr;
  // Some node reads it, and it is an initializer or the value of a Constant; else it may be a weight or not.
  bool certain = false;
};

// Finds everything in a model that may be a weight, in a fixed order, and gives each a name of its own:
//   an initializer           scope/name
//   a Constant               scope/output
//   a learned attribute      scope/node.attribute, and so any attribute of a call
// The scope is empty at the top, `node.attribute` in a body and `domain.function` or `domain.function:overload` in a
// function. A default of a function's attribute is called `domain.function.attribute`. A node whose name an earlier one
// of its scope has becomes `node#2`, and so does any other name that is taken. Names at the top of the model are given
// first, so these stay as they are in the file.
class SourceNames {
 public:
  // Refers to the messages of the model, which must stay where they are.
  explicit SourceNames(const wire::Model& model);

  const std::vector<NamedWeight>& weights() const { return weights_; }
  // Of an initializer (of its values, if it is sparse) or an attribute; empty for what is no weight.
  std::string of(const wire::TensorProto& tensor) const { return name_of(&tensor); }
  std::string of(const wire::Attribute& attribute) const { return name_of(&attribute); }
  // What an attribute that the node does not have would be called; empty when something else is called that.
  std::string of_absent(const wire::Node& node, std::string_view attribute) const;

 private:
  using NameCounts = std::unordered_map<std::string, int>;

  void note_names_read(const std::vector<wire::Node>& nodes);
  void name_graph(const std::string& scope, const wire::Graph& graph);
  void name_constants(const std::string& scope, const std::vector<wire::Node>& nodes);
  void name_nodes(const std::string& scope, const std::vector<wire::Node>& nodes);
  void name_attributes(const std::string& scope, const wire::Node& node);
  void name_function(const wire::Function& function);
  void add(std::string wanted, const void* message, NamedWeight weight);

  bool is_call(const wire::Node& node) const;
  bool is_constant(const wire::Node& node) const;
  std::string name_of(const void* message) const;

  std::unordered_set<std::string> functions_;        // by function_key
  std::unordered_set<std::string_view> names_read_;  // by nodes or as outputs, in any graph
  NameCounts names_, labels_, scopes_;               // given so far
  std::vector<NamedWeight> weights_;
  std::unordered_map<const void*, size_t> by_message_;                 // into weights_
  std::unordered_map<const wire::Node*, std::string> labels_of_node_;  // "scope/node"
};

}  // namespace tenon
