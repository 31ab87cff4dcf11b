#pragma once

// Small graphs built by hand, and sessions that run them.
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "ir/graph.h"
#include "runtime/session.h"

namespace tenon::test {

class SmallGraph {
 public:
  ValueId input(const std::string& name, DType dtype, std::optional<Shape> shape) {
    const ValueId v = graph.add_value(name, Type::tensor(dtype, std::move(shape)));
    graph.inputs.push_back({v, kNone});
    return v;
  }
  template <class T>
  ValueId weight(const std::string& name, std::vector<int64_t> dims, std::vector<T> values) {
    return graph.add_constant(Constant::of(name, Tensor::of<T>(std::move(dims), std::span<const T>(values))), name);
  }
  ValueId node(OpId op, std::vector<ValueId> inputs, Params params) {
    GraphNode made;
    made.op = op;
    made.params = std::move(params);
    made.inputs = std::move(inputs);
    made.name = std::string(op_def(op).name) + std::to_string(graph.nodes.size());
    made.outputs = {graph.add_value("", Type{})};
    const Status status = infer_node(graph, made, fresh);
    EXPECT_TRUE(status.ok()) << status.to_string();
    const ValueId result = made.outputs[0];
    graph.nodes.push_back(std::move(made));
    return result;
  }
  ValueId node(OpId op, std::vector<ValueId> inputs) { return node(op, std::move(inputs), default_params(op)); }
  void output(const std::string& name, ValueId v) {
    graph.outputs.push_back(v);
    graph.output_names.push_back(name);
  }
  std::unique_ptr<Session> session(SessionOptions options = {}, const std::string& target = "reference") const {
    auto compiled = compile(graph, {target, {}});
    EXPECT_TRUE(compiled.ok()) << compiled.status().to_string();
    WeightSnapshot weights;
    for (const Constant& constant : compiled->sources)
      weights.sources.push_back(
          std::make_shared<SourceBytes>(SourceBytes{constant.tensor, constant.load, std::nullopt}));
    auto made = Session::make_from_sources(compiled->program, std::move(weights), options);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return std::move(*made);
  }

  Graph graph;
  int fresh = 0;
};

template <class T>
Value tensor(std::vector<int64_t> dims, std::vector<T> values) {
  return Value(Tensor::of<T>(std::move(dims), std::span<const T>(values)));
}

template <class T>
std::vector<T> elements(const Value& value) {
  EXPECT_NE(value.tensor(), nullptr);
  const auto data = value.tensor()->as<T>();
  return {data.begin(), data.end()};
}

}  // namespace tenon::test
