#pragma once

// Small graphs built by hand, and sessions that run them.
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "ir/builder.h"
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
  ValueId node(OpId op, std::vector<ValueId> inputs, Params params = {}) {
    GraphBuilder builder(graph);
    builder.set_name(std::string(op_def(op).name) + std::to_string(graph.node_count()));
    const ValueId result = builder.op(op, std::move(inputs), std::move(params));
    EXPECT_TRUE(builder.status().ok()) << builder.status().to_string();
    return result;
  }
  void output(const std::string& name, ValueId v) { graph.add_output(v, name); }
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
