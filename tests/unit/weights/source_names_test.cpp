#include "weights/source_names.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

wire::TensorProto tensor(wire::Bytes name) {
  wire::TensorProto made;
  made.name = name;
  return made;
}
wire::Attribute floats(wire::Bytes name) {
  wire::Attribute made;
  made.name = name;
  made.type = wire::AttributeType::Floats;
  made.floats = {1, 2};
  return made;
}
wire::Attribute number(wire::Bytes name) {
  wire::Attribute made;
  made.name = name;
  made.type = wire::AttributeType::Int;
  return made;
}
wire::Attribute body(wire::Bytes name, wire::Graph graph) {
  wire::Attribute made;
  made.name = name;
  made.type = wire::AttributeType::Graph;
  made.graphs = {std::make_shared<wire::Graph>(std::move(graph))};
  return made;
}
wire::Node node(wire::Bytes name, wire::Bytes op, std::vector<wire::Attribute> attributes,
                wire::Bytes domain = "ai.onnx.ml") {
  wire::Node made;
  made.name = name;
  made.op_type = op;
  made.domain = domain;
  made.attributes = std::move(attributes);
  return made;
}
wire::Node constant(wire::Bytes output, wire::Bytes domain = "") {
  wire::Node made = node("", "Constant", {floats("value_floats")}, domain);
  made.outputs = {output};
  return made;
}
wire::Graph with_weight(wire::Bytes name) {
  wire::Graph graph;
  graph.initializers = {tensor(name)};
  return graph;
}
wire::Function function(wire::Bytes domain, wire::Bytes name, wire::Bytes overload, std::vector<wire::Node> nodes) {
  wire::Function made;
  made.domain = domain;
  made.name = name;
  made.overload = overload;
  made.nodes = std::move(nodes);
  return made;
}
std::vector<std::string> names_of(const wire::Model& model) {
  const SourceNames names(model);
  std::vector<std::string> result;
  for (const NamedWeight& weight : names.weights()) result.push_back(weight.name);
  return result;
}
using Names = std::vector<std::string>;

TEST(SourceNames, FollowTheFile) {
  wire::Model model;
  model.graph = with_weight("w");
  model.graph.nodes = {node("fc", "LinearRegressor", {floats("coefficients"), number("targets")}),
                       node("if", "If", {body("then_branch", with_weight("w"))}), constant("k")};
  model.functions = {function("local", "f", "", {constant("c")})};
  EXPECT_EQ(names_of(model), (Names{"w", "k", "fc.coefficients", "if.then_branch/w", "local.f/c"}));
}

TEST(SourceNames, NodesOfOneName) {
  wire::Model model;
  for (int i = 0; i < 3; ++i) model.graph.nodes.push_back(node("if", "If", {body("then_branch", with_weight("w"))}));
  EXPECT_EQ(names_of(model), (Names{"if.then_branch/w", "if#2.then_branch/w", "if#3.then_branch/w"}));
}

TEST(SourceNames, NamesAtTheTopAreGivenFirst) {
  wire::Model model;
  model.graph.nodes = {node("a", "If", {body("b", with_weight("w"))}), node("a.b", "Scaler", {floats("c")})};
  model.graph.initializers = {tensor("a.b/w"), tensor("a.b.c"), tensor("a.b.c#2")};
  EXPECT_EQ(names_of(model), (Names{"a.b/w", "a.b.c", "a.b.c#2", "a.b/w#2", "a.b.c#3"}));
}

TEST(SourceNames, ScopesThatSpellTheSame) {
  wire::Model model;
  model.functions = {function("a.b", "c", "", {constant("k")}), function("a", "b.c", "", {constant("k")}),
                     function("a.b", "c", "x", {constant("k")})};
  EXPECT_EQ(names_of(model), (Names{"a.b.c/k", "a.b.c#2/k", "a.b.c:x/k"}));
}

TEST(SourceNames, AttributesOfCalls) {
  wire::Attribute reference = floats("scale");
  reference.ref_attr_name = "by";
  wire::Model model;
  model.functions = {function("local", "f", "", {node("s", "Scaler", {reference, floats("offset")})})};
  model.functions[0].attribute_defaults = {floats("by")};
  model.graph.nodes = {node("call", "f", {floats("by"), number("axis")}, "local")};
  EXPECT_EQ(names_of(model), (Names{"call.by", "call.axis", "local.f.by", "local.f/s.offset"}));
}

TEST(SourceNames, ConstantsOfOtherDomainsAreNodes) {
  wire::Model model;
  model.graph.nodes = {constant("a"), constant("b", "ai.onnx"), constant("c", "mine")};
  EXPECT_EQ(names_of(model), (Names{"a", "b"}));
}

TEST(SourceNames, ListsOfOtherNodesAreNoWeights) {
  wire::Model model;
  model.graph.nodes = {node("conv", "Conv", {floats("strides")}, ""),
                       node("t", "TfIdfVectorizer", {floats("weights")}, "")};
  EXPECT_EQ(names_of(model), (Names{"t.weights"}));
}

TEST(SourceNames, WhatNobodyReadsIsNotCertain) {
  wire::Model model;
  model.graph.initializers = {tensor("read"), tensor("output"), tensor("unread")};
  wire::ValueInfo output;
  output.name = "output";
  model.graph.outputs = {output};
  wire::Node reader = node("n", "Scaler", {floats("scale")});
  reader.inputs = {"read"};
  model.graph.nodes = {reader};
  const SourceNames names(model);
  std::vector<bool> certain;
  for (const NamedWeight& weight : names.weights()) certain.push_back(weight.certain);
  EXPECT_EQ(certain, (std::vector<bool>{true, true, false, false}));
}

TEST(SourceNames, OfMessages) {
  wire::Model model;
  model.graph.initializers = {tensor("s.offset")};
  model.graph.nodes = {node("s", "Scaler", {floats("scale"), number("n")}), node("bare", "Relu", {})};
  const SourceNames names(model);
  const wire::Node& scaler = model.graph.nodes[0];
  EXPECT_EQ(names.of(scaler.attributes[0]), "s.scale");
  EXPECT_EQ(names.of(scaler.attributes[1]), "");
  EXPECT_EQ(names.of_absent(scaler, "rest"), "s.rest");
  EXPECT_EQ(names.of_absent(scaler, "offset"), "");  // the initializer's
  EXPECT_EQ(names.of_absent(model.graph.nodes[1], "rest"), "");
}

// Numbers go on from the last one, so this takes no square of the time.
TEST(SourceNames, ManyNodesOfOneName) {
  wire::Model model;
  for (int i = 0; i < 100'000; ++i) model.graph.nodes.push_back(node("n", "Scaler", {floats("scale")}));
  EXPECT_EQ(names_of(model).back(), "n#100000.scale");
}

}  // namespace
}  // namespace tenon
