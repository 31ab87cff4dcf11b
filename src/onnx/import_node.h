#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"

namespace tenon {

class GraphImporter;

// One ONNX node on its way into the graph: its attributes, inputs and a way to emit canonical nodes.
// Wrong attributes and failed inference are remembered; the driver reports the first with the node's name.
class ImportNode {
 public:
  ImportNode(GraphImporter& importer, const wire::Node& node, int64_t version);

  const wire::Node& node() const { return node_; }
  // The opset version of the node's domain that the model imports.
  int64_t version() const { return version_; }
  const std::string& name() const { return name_; }

  // Attributes. Reading one marks it as known; one that nobody reads is an error in the end.
  bool has_attribute(std::string_view name) const;
  int64_t int_attribute(std::string_view name, int64_t fallback);
  float float_attribute(std::string_view name, float fallback);
  std::string string_attribute(std::string_view name, std::string fallback);
  std::vector<int64_t> ints_attribute(std::string_view name);
  std::vector<float> floats_attribute(std::string_view name);
  std::vector<std::string> strings_attribute(std::string_view name);
  Tensor tensor_attribute(std::string_view name);  // undefined when absent
  Type type_attribute(std::string_view name);      // unknown when absent
  void ignore_attribute(std::string_view name);    // known, and without meaning here
  // Fields of a parameter struct from the attributes of the same names.
  template <class P>
  P read_params() {
    P params;
    read_fields([&](FieldVisitor& v) { params.fields(v); });
    return params;
  }
  Params read_params(OpId op);
  // A sub-graph attribute. input_types: what is known of its inputs beyond what it declares (may be shorter).
  std::shared_ptr<Graph> body_attribute(std::string_view name, const std::vector<Type>& input_types);

  // Something that is odd about the node and whose meaning is clear.
  void warn(std::string_view text);

  // Inputs: kNone for an absent one.
  size_t input_count() const { return inputs_.size(); }
  ValueId input(size_t i) const {
    inputs_read_ = std::max(inputs_read_, i + 1);
    return i < inputs_.size() ? inputs_[i] : ValueId(kNone);
  }
  const std::vector<ValueId>& inputs() const {
    inputs_read_ = inputs_.size();
    return inputs_;
  }
  const Type& type(ValueId v) const { return builder_.type(v); }
  std::optional<int64_t> rank(ValueId v) const { return builder_.rank(v); }
  // The elements of a constant that this node cannot be read without, or null.
  const Tensor* required_constant(ValueId v);
  size_t output_count() const { return node_.outputs.size(); }

  // New canonical nodes. The outputs of the last emit() that makes the node's results go to finish().
  std::vector<ValueId> emit(OpId op, Params params, std::vector<ValueId> inputs, size_t outputs = 1,
                            std::vector<std::shared_ptr<Graph>> bodies = {});
  ValueId emit1(OpId op, Params params, std::vector<ValueId> inputs) {
    return emit(op, std::move(params), std::move(inputs))[0];
  }
  // A constant that import needs (axes, sizes): not a weight of the user's.
  ValueId constant(const Tensor& tensor) { return builder_.literal(tensor); }
  ValueId int_constant(const std::vector<int64_t>& values) { return builder_.integers(values); }
  // A weight-carrying attribute: the source "<node>.<attribute>". tensor: its elements, in any shape;
  // an attribute that is not there gives a constant.
  ValueId attribute_weight(std::string_view attribute, Tensor tensor);
  // Notes that the plan counts on the node not having this weight. Returns none, for the input it would be.
  ValueId absent_weight(std::string_view attribute, DType dtype = DType::Float32);
  // Notes that the plan follows from the lists and tensors among the attributes that were read and are no weights.
  void ask_lists();
  // Names the results, in the order of the node's outputs.
  void finish(const std::vector<ValueId>& results);

  void fail(Status status);
  const Status& status() const { return status_; }
  // An error for the first attribute, or for inputs, that nobody read.
  Status check_all_read() const;

 private:
  friend class AttributeReader;
  const wire::Attribute* find(std::string_view name, wire::AttributeType type);
  // What stands for the attribute: in a function it may be one of the call. Null when there is none.
  const wire::Attribute* resolve(const wire::Attribute& attribute) const;
  Result<Tensor> elements_of(const wire::Attribute& attribute) const;
  std::string asker() const;
  void read_fields(const std::function<void(FieldVisitor&)>& visit);

  GraphImporter& importer_;
  const wire::Node& node_;
  int64_t version_;
  std::string name_;
  GraphBuilder builder_;
  GroupId group_;  // of the canonical nodes
  std::vector<ValueId> inputs_;
  mutable size_t inputs_read_ = 0;  // the first ones, up to the last that was asked for
  std::set<std::string, std::less<>> read_;
  std::vector<const wire::Attribute*> found_;    // read and there, as resolved
  std::vector<const wire::Attribute*> weights_;  // that became sources
  Status status_;
};

}  // namespace tenon
