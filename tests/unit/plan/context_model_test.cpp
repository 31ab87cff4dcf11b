#include "plan/context_model.h"

#include <gtest/gtest.h>

#include "unit/plan/sample_model.h"

namespace tenon {
namespace {

using wire::Bytes;

class ContextModel : public ::testing::Test, protected SampleModel {
 protected:
  wire::Model reread() {
    bytes = write();
    return wire::parse_model(bytes).value();
  }
  std::string bytes;
};

TEST_F(ContextModel, HasTheInterfaceOfItsSource) {
  const wire::Model made = reread();
  EXPECT_EQ(made.producer_name, "sample");
  EXPECT_EQ(made.graph.doc, "documentation");
  EXPECT_EQ(made.metadata.at(0).value, "none");
  EXPECT_EQ(made.opsets.at(0).version, 21);
  EXPECT_EQ(made.opsets.at(1).domain, "com.microsoft");
  ASSERT_EQ(made.graph.inputs.size(), 3u);
  EXPECT_EQ(made.graph.inputs[1].type.shape->at(0).param, "batch");
  EXPECT_EQ(made.graph.inputs[2].name, "list");
  ASSERT_EQ(made.graph.outputs.size(), 2u);
  EXPECT_TRUE(made.graph.initializers.empty());
  ASSERT_EQ(made.graph.nodes.size(), 1u);
  const wire::Node& node = made.graph.nodes[0];
  EXPECT_EQ(node.op_type, "EPContext");
  EXPECT_EQ(node.inputs, (std::vector<Bytes>{"c", "data", "list"}));
  EXPECT_EQ(node.outputs, (std::vector<Bytes>{"z"}));
  EXPECT_TRUE(check_signature(made, program.plan).ok()) << check_signature(made, program.plan).to_string();
}

TEST_F(ContextModel, ReadsBackItsNode) {
  const wire::Model made = reread();
  EXPECT_FALSE(is_context_model(model));
  ASSERT_TRUE(is_context_model(made));
  const auto read = read_context_model(made);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_FALSE(read->embedded);
  EXPECT_EQ(read->file_name, "sample.bin");
  EXPECT_EQ(read->plan_key, context.plan_key);
  EXPECT_EQ(read->content_id, context.content_id);
  EXPECT_EQ(read->version, "1.2.3");
  EXPECT_EQ(read->architecture, "little-endian");
  EXPECT_EQ(read->source_model, "model.onnx");
  EXPECT_EQ(write(), bytes);
}

TEST_F(ContextModel, EmbedsTheWeightsFile) {
  const std::string payload = std::string(10000, 'p') + '\0' + '\xff';
  context.embedded = true;
  context.payload = payload;
  const wire::Model made = reread();
  const auto read = read_context_model(made);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->embedded);
  EXPECT_EQ(read->payload, payload);
}

TEST_F(ContextModel, OldModelsGetTheVersionThatImportsNeed) {
  model.ir_version = 2;
  model.opsets.clear();
  const wire::Model made = reread();
  EXPECT_EQ(made.ir_version, 3);
  ASSERT_EQ(made.opsets.size(), 2u);
  EXPECT_EQ(made.opsets[0].version, 1);
}

TEST_F(ContextModel, OthersAreNamed) {
  EXPECT_EQ(read_context_model(model).status().code(), Code::InvalidArgument);
  wire::Model made = reread();
  wire::Attribute& source = made.graph.nodes[0].attributes[0];
  source.s = "QNN";
  const Status status = read_context_model(made).status();
  EXPECT_EQ(status.code(), Code::Unsupported);
  EXPECT_NE(status.message().find("'QNN'"), std::string::npos);
  EXPECT_NE(status.message().find("'model.onnx'"), std::string::npos);
}

TEST_F(ContextModel, DamageIsNamed) {
  const wire::Model made = reread();
  for (size_t i = 1; i < made.graph.nodes[0].attributes.size(); ++i) {
    wire::Model damaged = made;
    const std::string name(damaged.graph.nodes[0].attributes[i].name);
    damaged.graph.nodes[0].attributes[i].name = "other";
    const Status status = read_context_model(damaged).status();
    EXPECT_EQ(status.code(), Code::InvalidModel) << name;
    EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
  }
  wire::Model damaged = made;
  damaged.graph.nodes[0].attributes[4].s = "12";
  EXPECT_NE(read_context_model(damaged).status().message().find("hexadecimal"), std::string::npos);
  damaged = made;
  damaged.graph.nodes[0].attributes[2].i = 2;
  EXPECT_FALSE(read_context_model(damaged).ok());
  damaged = made;
  damaged.graph.nodes.push_back(model.graph.nodes[0]);
  EXPECT_NE(read_context_model(damaged).status().message().find("one node"), std::string::npos);
}

TEST_F(ContextModel, AnotherSignatureIsRefused) {
  const wire::Model made = reread();
  const auto refused = [&](auto change) {
    wire::Model changed = made;
    change(changed.graph);
    return check_signature(changed, program.plan).code();
  };
  EXPECT_EQ(refused([](wire::Graph&) {}), Code::Ok);
  EXPECT_EQ(refused([](wire::Graph& g) { g.inputs.pop_back(); }), Code::Incompatible);
  EXPECT_EQ(refused([](wire::Graph& g) { g.inputs[0].name = "other"; }), Code::Incompatible);
  EXPECT_EQ(refused([](wire::Graph& g) { g.outputs[0].name = "other"; }), Code::Incompatible);
  EXPECT_EQ(refused([](wire::Graph& g) { g.inputs[1].type.elem_type = 7; }), Code::Incompatible);
  EXPECT_EQ(refused([](wire::Graph& g) { g.inputs[1].type.shape->at(1).value = 3; }), Code::Incompatible);
  EXPECT_EQ(refused([](wire::Graph& g) { g.inputs[1].type.shape->pop_back(); }), Code::Incompatible);
  EXPECT_EQ(refused([](wire::Graph& g) { g.inputs[2].type = g.inputs[1].type; }), Code::Incompatible);
  EXPECT_EQ(refused([](wire::Graph& g) { g.inputs[1].type.shape.reset(); }), Code::Ok);
}

}  // namespace
}  // namespace tenon
