#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/readers.h"
#include "onnx/export_memory.h"
#include "onnx/onnx_map.h"

namespace tenon {

// A canonical node on its way back to ONNX: one form that may be right. Whether it is, reading it again tells, so an
// edit has to be right only where it applies.
class NodeDraft {
 public:
  NodeDraft(const Graph& graph, const GraphNode& node, ExportMemory& memory)
      : inputs(node.inputs), graph_(graph), node_(node), memory_(memory) {}

  std::string_view domain, op_type;
  int64_t version = 1;  // that the model imports of the domain
  std::vector<ValueId> inputs;
  std::vector<wire::Attribute> attributes;
  std::vector<std::string_view> bodies;  // the attributes that hold the node's bodies, in their order

  template <class P>
  const P& params() const {
    return node_.params.get<P>();
  }
  const Type& type(ValueId v) const { return graph_.value(v).type; }
  // The node that computes a value when it is of this op, or null.
  const GraphNode* made_by(ValueId v, OpId op) const { return v == kNone ? nullptr : maker(graph_, v, op); }
  // What is known of the elements of an input, or null.
  const std::vector<Dim>* known(size_t input) const;
  // The elements of an input that is a constant.
  std::optional<Tensor> constant(size_t input) const;

  void remove(std::string_view attribute);
  void rename(std::string_view attribute, std::string_view other);
  // Other parameters with which the node computes the same; it is them that reading must give.
  void restate(Params other) { restated_ = std::move(other); }
  const Params& params_to_read() const { return restated_ ? *restated_ : node_.params; }
  // These replace an attribute of the same name.
  void set_int(std::string_view attribute, int64_t value) { set(messages().make_int(attribute, value)); }
  void set_float(std::string_view attribute, float value) { set(messages().make_float(attribute, value)); }
  void set_string(std::string_view attribute, std::string_view value) { set(messages().make_string(attribute, value)); }
  void set_ints(std::string_view attribute, std::span<const int64_t> values) {
    set(messages().make_ints(attribute, values));
  }
  void set_floats(std::string_view attribute, std::span<const float> values) {
    set(messages().make_floats(attribute, values));
  }
  void set_strings(std::string_view attribute, std::span<const std::string> values) {
    set(messages().make_strings(attribute, values));
  }
  void set_tensor(std::string_view attribute, const Tensor& value) {
    set(messages().make_tensor(attribute, memory_.make_tensor("", value)));
  }
  void set_type(std::string_view attribute, const Type& type) {
    set(messages().make_type(attribute, memory_.make_type(type)));
  }
  // Makes an attribute of a constant input. False when the input is computed or no such attribute can hold it.
  bool move_to_attribute(const AttributeInput& input);

 private:
  wire::MessageBuilder& messages() { return memory_.messages; }
  void set(wire::Attribute attribute);
  bool set_elements(const AttributeInput& input, const Tensor& tensor);

  const Graph& graph_;
  const GraphNode& node_;
  ExportMemory& memory_;
  std::optional<Params> restated_;
};

// The attributes of a node's parameters by the walk over their fields; all: also those with their default values.
std::vector<wire::Attribute> attributes_of(const GraphNode& node, bool all, ExportMemory& memory);

}  // namespace tenon
