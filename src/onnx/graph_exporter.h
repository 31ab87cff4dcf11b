#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "onnx/export.h"
#include "onnx/spelling.h"

namespace tenon {

// What all graphs of a model share while it is exported.
struct ModelExport {
  ModelExport(const ImportedModel& imported, const ExportOptions& export_options, ExportedModel& target);

  const ImportedModel& model;
  const ExportOptions& options;
  ExportedModel& exported;
  Speller speller;
  std::set<std::string, std::less<>> names, node_names;  // of the whole model
  std::set<std::string> kept;
  std::vector<std::string> inexpressible;  // nodes that must be written anew and cannot be

  // A name that no value of the model has.
  wire::Bytes new_name(std::string_view like);
  // The same for nodes; empty stays empty.
  wire::Bytes new_node_name(std::string_view like);
  // "Softmax (version 11)", or "com.microsoft.Rfft (version 1): DFT" when it became something else.
  std::string op_text(const wire::Node& node, std::string_view canonical) const;
};

using ValueNames = std::unordered_map<ValueId, wire::Bytes>;

// Writes the nodes of one scope (graph or body).
class GraphExporter {
 public:
  // captured: what the values that the graph takes from outside are called there.
  GraphExporter(ModelExport& model, const Graph& graph, ValueNames captured);

  Status run(wire::Graph& out);

 private:
  struct Written {
    NodeId node;
    Spelling spelling;
  };

  void begin_as_read(wire::Graph& out);
  void begin_anew(wire::Graph& out);
  Status write_nodes();
  Status write_group(GroupId id);
  void write_as_read(const Group& group);
  void write_as_made(GroupId id);
  Status write_anew(const GraphNode& node);
  Status write(const GraphNode& node, const Spelling& spelling);
  Result<wire::Attribute> body_attribute(std::string_view name, const Graph& body);
  void write_constant(const Constant& constant, wire::Bytes name);
  void write_second_names(const wire::Graph& out);
  void remove_unneeded(wire::Graph& out);
  void remove_unread_initializers(wire::Graph& out);
  void lift_large_constants(wire::Graph& out);
  void declare_types(wire::Graph& out);
  void put_in_order(std::vector<wire::Node>& out);

  bool is_read_inside(GroupId id) const;
  bool is_as_read(GroupId id) const;
  bool has_lost_input(GroupId id) const;
  bool is_call(GroupId id) const;
  bool is_made(GroupId id) const { return graph_.wire && !wire_nodes_.contains(graph_.group(id).wire); }
  bool reads_same_names(const Graph& body) const;
  // How the nodes are written. One that another's spelling covers is not; `missing` gets those that cannot be.
  std::vector<Written> spellings(const std::vector<NodeId>& nodes, std::vector<NodeId>& missing);
  void cover(const std::vector<NodeId>& nodes, NodeId by, const std::vector<NodeId>& covered, NodeSet& unwritten) const;
  void note_kept(const std::vector<NodeId>& missing);
  void note_inexpressible(const GraphNode& node);
  bool can_write(const Graph& body) const;
  bool is_defined(ValueId v) const;
  bool is_displaced(ValueId v, std::string_view name) const;
  GroupId outermost(GroupId id) const;
  bool is_lost_name(wire::Bytes name, ValueId v);
  wire::Bytes name_of(ValueId v);
  bool keeps_name_in_file(const GraphNode& node) const;
  wire::Bytes node_name(const GraphNode& node);
  void add_provenance(wire::Node& made, const Provenance* from);
  std::vector<wire::Bytes> output_names(const GraphNode& node, const Spelling& spelling);

  ModelExport& model_;
  const Graph& graph_;
  ValueNames names_;
  std::set<ValueId> captured_;
  NodeSet unread_;                                            // nodes whose results only nodes among them read
  std::map<std::string, ValueId, std::less<>> outputs_;       // of the graph, by name
  std::map<std::string, ValueId, std::less<>> second_names_;  // that values have in the file beside their own
  std::set<ValueId> renamed_;                                 // values that have the name of an output now
  std::vector<wire::Node> nodes_, constants_;
  std::unordered_set<const wire::Node*> wire_nodes_;      // that were read
  std::vector<std::pair<wire::Bytes, ValueId>> written_;  // results of nodes, by the names that they were written with
  Table<GroupId, std::vector<NodeId>> group_nodes_;       // in order, by outermost group
  std::set<GroupId> named_groups_;                        // whose ONNX node's name a written node has
};

}  // namespace tenon
