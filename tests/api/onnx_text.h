#pragma once

// ONNX models as bytes, written field by field: https://protobuf.dev/programming-guides/encoding/
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace onnx_text {

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string number(int field, int64_t value) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(static_cast<uint64_t>(value));
}
inline std::string bytes(int field, const std::string& content) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(content.size()) + content;
}

// An extent is a number or a name.
struct Extent {
  Extent(int64_t v) : value(v) {}
  Extent(const char* n) : name(n) {}
  int64_t value = 0;
  std::string name;
};

inline std::string tensor_type(int dtype, const std::vector<Extent>& shape) {
  std::string dims;
  for (const Extent& extent : shape)
    dims += bytes(1, extent.name.empty() ? number(1, extent.value) : bytes(2, extent.name));
  return bytes(1, number(1, dtype) + bytes(2, dims));
}
inline std::string tensor_type(int dtype) { return bytes(1, number(1, dtype)); }  // of any shape
inline std::string sequence_type(const std::string& element) { return bytes(4, bytes(1, element)); }
inline std::string map_type(int key, const std::string& value) { return bytes(5, number(1, key) + bytes(2, value)); }
inline std::string optional_type(const std::string& element) { return bytes(9, bytes(1, element)); }

inline std::string value(const std::string& name, const std::string& type) { return bytes(1, name) + bytes(2, type); }

inline std::string weight(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& data) {
  std::string raw(data.size() * sizeof(float), '\0');
  std::memcpy(raw.data(), data.data(), raw.size());
  std::string tensor;
  for (int64_t extent : dims) tensor += number(1, extent);
  return tensor + number(2, 1) + bytes(8, name) + bytes(9, raw);
}

inline std::string strings_attribute(const std::string& name, const std::vector<std::string>& strings) {
  std::string attribute = bytes(1, name);
  for (const std::string& text : strings) attribute += bytes(9, text);
  return attribute + number(20, 8);
}

struct Node {
  std::string op;
  std::vector<std::string> inputs, outputs;
  std::string name, domain;
  std::vector<std::string> attributes;
};

struct Model {
  std::vector<Node> nodes;
  std::vector<std::string> inputs, outputs, weights;
  std::vector<std::pair<std::string, std::string>> metadata;

  std::string graph_bytes() const {
    std::string graph;
    for (const Node& node : nodes) {
      std::string message;
      for (const auto& input : node.inputs) message += bytes(1, input);
      for (const auto& output : node.outputs) message += bytes(2, output);
      message += bytes(3, node.name) + bytes(4, node.op) + bytes(7, node.domain);
      for (const auto& attribute : node.attributes) message += bytes(5, attribute);
      graph += bytes(1, message);
    }
    graph += bytes(2, "example");
    for (const auto& tensor : weights) graph += bytes(5, tensor);
    for (const auto& input : inputs) graph += bytes(11, input);
    for (const auto& output : outputs) graph += bytes(12, output);
    return graph;
  }
  std::string to_bytes() const {
    std::string model = number(1, 10) + bytes(2, "by hand") + bytes(7, graph_bytes());
    model += bytes(8, number(2, 21)) + bytes(8, bytes(1, "ai.onnx.ml") + number(2, 3));
    for (const auto& [key, text] : metadata) model += bytes(14, bytes(1, key) + bytes(2, text));
    return model;
  }
};

inline std::string graph_attribute(const std::string& name, const Model& graph) {
  return bytes(1, name) + bytes(6, graph.graph_bytes()) + number(20, 5);
}

inline constexpr int kFloat = 1, kInt64 = 7, kString = 8, kBool = 9;

// y = relu(x * w + b), x of shape [n, 2].
inline std::string linear() {
  Model model;
  model.nodes = {{"MatMul", {"x", "w"}, {"product"}, "multiply", "", {}},
                 {"Add", {"product", "b"}, {"sum"}, "shift", "", {}},
                 {"Relu", {"sum"}, {"y"}, "cut", "", {}}};
  model.inputs = {value("x", tensor_type(kFloat, {"n", 2}))};
  model.outputs = {value("y", tensor_type(kFloat, {"n", 2}))};
  model.weights = {weight("w", {2, 2}, {1, 2, 3, 4}), weight("b", {2}, {-10, 1})};
  model.metadata = {{"author", "somebody"}, {"license", "any"}};
  return model.to_bytes();
}

// y = x, of any type.
inline std::string identity(const std::string& type) {
  Model model;
  model.nodes = {{"Identity", {"x"}, {"y"}, "pass", "", {}}};
  model.inputs = {value("x", type)};
  model.outputs = {value("y", type)};
  return model.to_bytes();
}

// A Loop without an end; only limits and cancelling stop it.
inline std::string endless_loop() {
  Model body;
  body.nodes = {{"Identity", {"go"}, {"go_on"}, "", "", {}}, {"Identity", {"v"}, {"next"}, "", "", {}}};
  body.inputs = {value("i", tensor_type(kInt64, {})), value("go", tensor_type(kBool, {})),
                 value("v", tensor_type(kFloat, {1}))};
  body.outputs = {value("go_on", tensor_type(kBool, {})), value("next", tensor_type(kFloat, {1}))};
  Model model;
  model.nodes = {{"Loop", {"", "", "w"}, {"y"}, "turn", "", {graph_attribute("body", body)}}};
  model.outputs = {value("y", tensor_type(kFloat, {1}))};
  model.weights = {weight("w", {1}, {1})};
  return model.to_bytes();
}

}  // namespace onnx_text
