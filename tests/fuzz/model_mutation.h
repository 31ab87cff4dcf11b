#pragma once

#include <random>

#include "model_parts.h"
#include "wire/onnx_build.h"

namespace tenon::fuzz {

// Changes that keep a model readable, so that they reach the code behind the parser: attributes, shapes, contents,
// types, names, nodes, versions.
class ModelMutation {
 public:
  // New strings live in `strings`, which must outlive the model.
  ModelMutation(wire::MessageBuilder& strings, uint32_t seed) : strings_(strings), random_(seed) {}

  void change(wire::Model& model);
  // Takes a node with its weights, or a sub-graph, from another model.
  void cross(wire::Model& model, wire::Model& other);

 private:
  size_t below(size_t count) { return random_() % count; }
  bool chance(size_t one_in) { return below(one_in) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[below(list.size())];
  }
  int64_t odd_integer();
  float odd_float();
  wire::Bytes odd_string(const ModelParts& parts);
  wire::Bytes value_name(const ModelParts& parts);

  template <class T, class Make>
  void change_list(std::vector<T>& list, Make make);

  void change_attribute(wire::Attribute& attribute, const ModelParts& parts);
  void change_attributes(std::vector<wire::Attribute>& attributes);
  void give_attribute(wire::Node& node);
  void change_node(wire::Node& node, const ModelParts& parts);
  void change_op(wire::Node& node);
  void change_tensor(wire::TensorProto& tensor);
  void fill_tensor(wire::TensorProto& tensor);
  void change_type(wire::TypeProto& type);
  void change_values(std::vector<wire::ValueInfo>& values, const ModelParts& parts);

  wire::MessageBuilder& strings_;
  std::minstd_rand random_;
};

}  // namespace tenon::fuzz
