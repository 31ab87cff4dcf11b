#pragma once

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "onnx/export.h"
#include "wire/onnx_write.h"

namespace tenon {

// Makes small ONNX models for tests, and shows what is in them.
class ModelMaker {
 public:
  explicit ModelMaker(int64_t opset, int64_t ml_opset = 0) {
    model_.ir_version = 8;
    model_.has_graph = true;
    model_.graph.name = messages.keep("g");
    model_.opsets.push_back(messages.make_opset("", opset));
    if (ml_opset) model_.opsets.push_back(messages.make_opset("ai.onnx.ml", ml_opset));
  }

  wire::MessageBuilder messages;
  wire::Model& model() { return model_; }
  wire::Graph& graph() { return model_.graph; }

  wire::ValueInfo value(std::string_view name, std::vector<int64_t> dims, DType dtype = DType::Float32) {
    wire::TypeProto type;
    type.kind = wire::TypeProto::Kind::Tensor;
    type.elem_type = static_cast<int64_t>(dtype);
    type.shape.emplace();
    for (int64_t dim : dims) type.shape->push_back({dim, std::nullopt, {}});
    return messages.make_value_info(name, std::move(type));
  }
  ModelMaker& input(std::string_view name, std::vector<int64_t> dims, DType dtype = DType::Float32) {
    graph().inputs.push_back(value(name, std::move(dims), dtype));
    return *this;
  }
  ModelMaker& output(std::string_view name, std::vector<int64_t> dims, DType dtype = DType::Float32) {
    graph().outputs.push_back(value(name, std::move(dims), dtype));
    return *this;
  }
  template <class T>
  ModelMaker& initializer(std::string_view name, std::vector<int64_t> dims, std::vector<T> elements) {
    const std::string_view bytes(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
    graph().initializers.push_back(messages.make_tensor_raw(name, dtype_of<T>(), dims, messages.keep(bytes)));
    return *this;
  }
  wire::Node make_node(std::string_view op, const std::vector<std::string_view>& inputs,
                       const std::vector<std::string_view>& outputs, std::vector<wire::Attribute> attributes = {},
                       std::string_view name = {}, std::string_view domain = {}) {
    wire::Node node = messages.make_node(op, domain, inputs, outputs, name);
    node.attributes = std::move(attributes);
    return node;
  }
  ModelMaker& node(std::string_view op, const std::vector<std::string_view>& inputs,
                   const std::vector<std::string_view>& outputs, std::vector<wire::Attribute> attributes = {},
                   std::string_view name = {}, std::string_view domain = {}) {
    graph().nodes.push_back(make_node(op, inputs, outputs, std::move(attributes), name, domain));
    return *this;
  }

  // As it is read from a file.
  std::shared_ptr<ImportedModel> read() const { return read(model_); }
  static std::shared_ptr<ImportedModel> read(const wire::Model& model) {
    auto bytes = wire::write_model(model);
    EXPECT_TRUE(bytes.ok()) << bytes.status().to_string();
    auto owner = std::make_shared<const std::string>(std::move(*bytes));
    auto imported = import_bytes(*owner, owner, "");
    EXPECT_TRUE(imported.ok()) << imported.status().to_string();
    return imported.ok() ? *imported : std::make_shared<ImportedModel>();
  }

 private:
  template <class T>
  static DType dtype_of() {
    if constexpr (std::is_same_v<T, float>) return DType::Float32;
    if constexpr (std::is_same_v<T, int64_t>) return DType::Int64;
  }
  wire::Model model_;
};

inline std::string attribute_text(const wire::Attribute& a) {
  switch (a.type) {
    case wire::AttributeType::Int:
      return fmt::format("{}={}", a.name, a.i);
    case wire::AttributeType::Float:
      return fmt::format("{}={}", a.name, a.f);
    case wire::AttributeType::String:
      return fmt::format("{}='{}'", a.name, a.s);
    case wire::AttributeType::Ints:
      return fmt::format("{}=[{}]", a.name, fmt::join(a.ints, ", "));
    case wire::AttributeType::Floats:
      return fmt::format("{}=[{}]", a.name, fmt::join(a.floats, ", "));
    case wire::AttributeType::Strings:
      return fmt::format("{}=[{}]", a.name, fmt::join(a.strings, ", "));
    default:
      return std::string(a.name);
  }
}

// "y = Softmax(x) axis=1", attributes in the order of their names.
inline std::string node_text(const wire::Node& node) {
  std::vector<std::string> attributes;
  for (const wire::Attribute& a : node.attributes) attributes.push_back(attribute_text(a));
  std::ranges::sort(attributes);
  return fmt::format("{} = {}({}){}{}", fmt::join(node.outputs, ", "), node.op_type, fmt::join(node.inputs, ", "),
                     attributes.empty() ? "" : " ", fmt::join(attributes, " "));
}

inline std::vector<std::string> node_texts(const wire::Graph& graph) {
  std::vector<std::string> texts;
  for (const wire::Node& node : graph.nodes) texts.push_back(node_text(node));
  return texts;
}

inline ExportedModel exported(const ImportedModel& model, const ExportOptions& options = {}) {
  auto result = export_model(model, model.graph, options);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  if (!result.ok()) return {};
  // Whatever is written can be read.
  ModelMaker::read(result->model);
  return std::move(*result);
}

inline NodeId find_op(const Graph& graph, OpId op) {
  for (const GraphNode& node : graph.nodes())
    if (node.op == op) return node.id;
  ADD_FAILURE() << "no node " << op_def(op).name;
  return kNone;
}

}  // namespace tenon
