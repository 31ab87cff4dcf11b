#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/import.h"
#include "onnx/import_node.h"
#include "weights/source_names.h"

namespace tenon {

using FunctionTable = std::unordered_map<std::string, const wire::Function*>;  // by function_key

// Nodes that are left out of the graph, for one warning about them all.
struct LeftOutNodes {
  int64_t count = 0;
  std::string first;  // its name and op
  void add(std::string_view name, std::string_view op_type) {
    if (count++ == 0) first = fmt::format("node '{}' ({})", name, op_type);
  }
};

// What all graphs of one model share while it is imported.
struct ModelImport {
  ImportedModel& model;
  const ImportOptions& options;
  FunctionTable functions = {};
  SourceNames names = SourceNames(model.wire);
  std::unordered_map<std::string, ConstantId> sources = {};  // made so far, by name
  std::set<std::string, std::less<>> deprecated = {};        // ops that a warning is given for
  std::vector<const wire::Function*> calls = {};             // that are being replaced, outermost first
  LeftOutNodes without_outputs = {};
  int depth = 1;      // graphs and function calls, the outermost graph counted
  int64_t nodes = 0;  // made so far

  std::unordered_set<std::string> warned = {};
  // Once for each text, however often a function is read.
  void warn(const std::string& text);
};

// A call of a model-local function: what its attribute references mean.
struct FunctionCall {
  const wire::Function* function = nullptr;
  std::unordered_map<std::string_view, const wire::Attribute*> attributes;
};

using OpsetVersions = std::unordered_map<std::string, int64_t>;

// Imports the nodes of one ONNX scope (graph, body or function body) into a graph.
class GraphImporter {
 public:
  // outer: the enclosing scope whose names are visible; null at top level and in functions.
  GraphImporter(ModelImport& model, Graph& graph, GraphImporter* outer, const OpsetVersions& opsets,
                const FunctionCall* call);

  Status import_graph(const wire::Graph& wire_graph, const std::vector<Type>& input_types, bool is_top);
  Status import_nodes(const std::vector<wire::Node>& nodes);

  // The value a name means here; captures it from outside when needed. kNone when nobody defines it.
  ValueId lookup(std::string_view name);
  Status define(std::string_view name, ValueId value);
  Status add_constant(std::string_view name, Constant constant);
  // A value that is the constant. In a function, a source that an earlier call made is used again.
  Result<ValueId> constant_value(Constant constant, std::string value_name);
  // Notes that the plan follows from the elements of a source, which may be made for that alone.
  Status ask_source(Constant constant, const std::string& asker);
  Result<Constant> constant_of(const wire::TensorProto& proto, std::string source);

  ModelImport& model() { return model_; }
  Graph& graph() { return graph_; }
  const OpsetVersions& opsets() const { return opsets_; }
  const FunctionCall* call() const { return call_; }
  GroupId call_group() const { return call_group_; }

 private:
  Status import_node(const wire::Node& node);
  Status check_version(const wire::Node& node, std::string_view domain);
  Status import_constant(const wire::Node& node);
  Result<Constant> constant_of(const wire::Attribute& value);
  Status import_call(const wire::Node& node, const wire::Function& function);
  struct ListedInitializers;
  Status import_inputs(const wire::Graph& wire_graph, const std::vector<Type>& input_types, bool is_top);
  Status import_initializers(const wire::Graph& wire_graph, bool is_top, ListedInitializers& listed);
  Status add_initializer(std::string_view name, Constant constant, ListedInitializers& listed);
  Result<std::optional<Tensor>> given_tensor(std::string_view name, int64_t data_type, const std::vector<int64_t>& dims,
                                             bool is_top) const;
  // The caller's tensor when there is one, else the file's.
  Result<Constant> initializer_constant(const wire::TensorProto& proto, bool is_top);
  Result<Constant> initializer_constant(const wire::SparseTensorProto& proto, bool is_top);
  Status share_as_literal(ConstantId known, Constant& constant);
  void replace_elements(Constant& constant) const;
  Status check_declared(const wire::Graph& wire_graph, bool is_top);
  // The type a value is declared with; its element types must be ones that ONNX has.
  Result<Type> declared_type(const wire::ValueInfo& info, const char* what);
  Result<std::vector<size_t>> data_flow_order(const std::vector<wire::Node>& nodes);

  ModelImport& model_;
  Graph& graph_;
  GraphImporter* outer_;
  const OpsetVersions& opsets_;
  const FunctionCall* call_;
  GroupId call_group_ = kNone;  // of the node that calls the function
  std::unordered_map<std::string, ValueId> names_;
};

}  // namespace tenon
