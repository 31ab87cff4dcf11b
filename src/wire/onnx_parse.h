#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "wire/onnx_model.h"
#include "wire/proto_reader.h"

// The pieces of the ONNX reader; for src/wire only. They throw, parse_model and parse_tensor catch.
namespace tenon::wire {

// A model that is well-formed protobuf but breaks a rule of ONNX or a limit.
struct ParseError final : protozero::exception {
  ParseError(Code error_code, std::string text) : code(error_code), message(std::move(text)) {}
  const char* what() const noexcept override { return message.c_str(); }
  Code code;
  std::string message;
};

class Parser {
 public:
  explicit Parser(const ParseLimits& limits) : limits_(limits) {
    limits_.max_nesting = std::min(limits_.max_nesting, kMostNesting);
  }

  Model model(Bytes bytes);
  Graph graph(Bytes bytes);
  Function function(Bytes bytes);
  Node node(Bytes bytes);
  Attribute attribute(Bytes bytes);
  TensorProto tensor(Bytes bytes);
  SparseTensorProto sparse_tensor(Bytes bytes);
  ValueInfo value_info(Bytes bytes);
  TypeProto type(Bytes bytes);

  // Runs f inside a named place: "graph.node[3]" for a repeated field, "graph" when index < 0. The place survives an
  // exception, so that the message can name it.
  template <class F>
  auto at(const char* name, int64_t index, F&& f) {
    path_.push_back({name, index});
    if (++messages_ > limits_.max_messages) throw_too_many("messages", limits_.max_messages);
    auto value = f();
    path_.pop_back();
    return value;
  }
  template <class T, class F>
  void append(std::vector<T>& list, const char* name, F&& f) {
    list.push_back(at(name, static_cast<int64_t>(list.size()), std::forward<F>(f)));
  }
  std::string path() const;

 private:
  struct Place {
    const char* name;
    int64_t index;
  };
  // One level more of graphs or of types, which are counted apart: a graph's own types make it no deeper.
  struct Deeper {
    Deeper(const Parser& parser, int& depth, const char* what) : depth_(depth) {
      if (++depth_ > parser.limits_.max_nesting) parser.throw_too_deep(what);
    }
    ~Deeper() { --depth_; }
    int& depth_;
  };

  AttributeType attribute_type(Bytes bytes, Attribute& attribute);
  bool attribute_value(const Field& field, Attribute& attribute);
  void type_body(Bytes bytes, TypeProto& type);
  void shape(Bytes bytes, TypeProto& type);
  DimensionProto dimension(Bytes bytes);
  void count_node();
  [[noreturn]] void throw_too_deep(const char* what) const;
  [[noreturn]] void throw_too_many(const char* what, int64_t limit) const;

  ParseLimits limits_;
  std::vector<Place> path_;
  int graph_depth_ = 0, type_depth_ = 0;
  int64_t nodes_ = 0;
  int64_t messages_ = 0;
};

// A field that names something: UTF-8 without zero bytes.
Bytes parse_name(const Field& field);
StringEntry parse_entry(Bytes bytes);
OpsetImport parse_opset(Bytes bytes);
// Protobuf would merge a singular message that comes twice; no writer makes that, so it is refused.
[[noreturn]] void throw_given_twice(const char* name);

}  // namespace tenon::wire
