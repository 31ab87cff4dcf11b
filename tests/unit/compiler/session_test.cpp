// Plans made by the reference target, run by the executor.
#include <gmock/gmock.h>

#include "support/small_graph.h"

namespace tenon {
namespace {

using test::elements;
using test::SmallGraph;
using test::tensor;
using testing::ElementsAre;
using testing::HasSubstr;

const Dim n = Dim::symbol("n");

// y = relu(x * w + b)
SmallGraph linear() {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n, Dim(2)});
  const ValueId w = g.weight<float>("w", {2, 2}, {1, 2, 3, 4});
  const ValueId b = g.weight<float>("b", {2}, {-10, 1});
  g.output("y", g.node(OpId::Relu, {g.node(OpId::Add, {g.node(OpId::MatMul, {x, w}), b})}));
  return g;
}

TEST(Session, RunsEveryShape) {
  auto session = linear().session();
  auto one = session->run({tensor<float>({1, 2}, {1, 1})}, {}, {});
  ASSERT_TRUE(one.ok()) << one.status().to_string();
  EXPECT_THAT(elements<float>((*one)[0]), ElementsAre(0, 7));
  auto two = session->run({tensor<float>({2, 2}, {4, 4, 0, 0})}, {}, {});
  EXPECT_THAT(elements<float>((*two)[0]), ElementsAre(6, 25, 0, 1));
  auto none = session->run({tensor<float>({0, 2}, {})}, {}, {});
  ASSERT_TRUE(none.ok()) << none.status().to_string();
  EXPECT_THAT((*none)[0].tensor()->dims(), ElementsAre(0, 2));
}

TEST(Session, NamesTheInputThatIsWrong) {
  auto session = linear().session();
  auto missing = session->run({Value()}, {}, {});
  EXPECT_EQ(missing.status().code(), Code::InvalidArgument);
  EXPECT_THAT(missing.status().to_string(), HasSubstr("input 'x'"));
  auto wrong_type = session->run({tensor<int64_t>({1, 2}, {1, 1})}, {}, {});
  EXPECT_THAT(wrong_type.status().to_string(), HasSubstr("int64"));
  auto wrong_dim = session->run({tensor<float>({1, 3}, {1, 1, 1})}, {}, {});
  EXPECT_THAT(wrong_dim.status().to_string(), HasSubstr("dimension 1 must be 2"));
  auto wrong_rank = session->run({tensor<float>({2}, {1, 1})}, {}, {});
  EXPECT_THAT(wrong_rank.status().to_string(), HasSubstr("rank"));
}

TEST(Session, WritesIntoTheCallersMemory) {
  auto session = linear().session();
  float memory[2] = {};
  const int64_t dims[] = {1, 2};
  const OutputTarget target = TensorView{DType::Float32, dims, memory};
  auto result = session->run({tensor<float>({1, 2}, {1, 1})}, std::span(&target, 1), {});
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_THAT(memory, ElementsAre(0, 7));
  EXPECT_TRUE((*result)[0].empty());
  const int64_t wrong[] = {2, 1};
  const OutputTarget bad = TensorView{DType::Float32, wrong, memory};
  EXPECT_EQ(session->run({tensor<float>({1, 2}, {1, 1})}, std::span(&bad, 1), {}).status().code(),
            Code::InvalidArgument);
}

TEST(Session, ShapesComeFromDataOfThePreviousSegment) {
  // The target shape is computed from an input, so it is only known at run time.
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n});
  const ValueId shape = g.input("shape", DType::Int64, Shape{Dim(2)});
  const ValueId zero = g.weight<int64_t>("zero", {1}, {0});
  g.output("y", g.node(OpId::Reshape, {x, g.node(OpId::Add, {shape, zero})}));
  auto session = g.session();
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{2, 3}, {3, 2}, {1, 6}, {2, 3}}) {
    auto result = session->run({tensor<float>({6}, {1, 2, 3, 4, 5, 6}), tensor<int64_t>({2}, {rows, columns})}, {}, {});
    ASSERT_TRUE(result.ok()) << result.status().to_string();
    EXPECT_THAT((*result)[0].tensor()->dims(), ElementsAre(rows, columns));
  }
  auto wrong = session->run({tensor<float>({6}, {1, 2, 3, 4, 5, 6}), tensor<int64_t>({2}, {4, 4})}, {}, {});
  EXPECT_THAT(wrong.status().to_string(), HasSubstr("Reshape"));
}

TEST(Session, ResultsDoNotAliasWeightsOrInputs) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n});
  const ValueId w = g.weight<float>("w", {2}, {1, 2});
  g.output("same", x);
  g.output("weight", w);
  g.output("again", x);
  auto session = g.session();
  const Value given = tensor<float>({1}, {5});
  auto result = session->run({given}, {}, {});
  ASSERT_TRUE(result.ok());
  EXPECT_NE((*result)[0].tensor()->data(), given.tensor()->data());
  EXPECT_NE((*result)[0].tensor()->data(), (*result)[2].tensor()->data());
  (*result)[1].tensor()->as_mutable<float>()[0] = 99;
  auto second = session->run({given}, {}, {});
  EXPECT_THAT(elements<float>((*second)[1]), ElementsAre(1, 2));
}

TEST(Session, MemoryLimitIsAnErrorNotACrash) {
  SessionOptions options;
  options.limits.memory_bytes = 1000;
  auto session = linear().session(options);
  auto result = session->run({tensor<float>({400, 2}, std::vector<float>(800))}, {}, {});
  EXPECT_EQ(result.status().code(), Code::ResourceLimit);
  EXPECT_TRUE(session->run({tensor<float>({1, 2}, {1, 1})}, {}, {}).ok());
}

TEST(Session, CancelledRunsStop) {
  auto session = linear().session();
  std::atomic<bool> cancelled{true};
  RunOptions options;
  options.cancelled = &cancelled;
  EXPECT_EQ(session->run({tensor<float>({1, 2}, {1, 1})}, {}, options).status().code(), Code::Cancelled);
}

TEST(Session, ProfileNamesEveryStep) {
  auto session = linear().session();
  std::vector<StepTime> steps;
  RunOptions options;
  options.profile = &steps;
  ASSERT_TRUE(session->run({tensor<float>({1, 2}, {1, 1})}, {}, options).ok());
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].family, "reference/MatMul");
  EXPECT_EQ(steps[2].name, "Relu2");
}

// Every length needs an arena of another size; all are the same memory.
TEST(Session, ManyLengthsShareOneArena) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n, Dim(64)});
  const ValueId w = g.weight<float>("w", {64, 64}, std::vector<float>(64 * 64, 0.5f));
  g.output("y", g.node(OpId::ReduceSum, {g.node(OpId::MatMul, {g.node(OpId::Exp, {x}), w})}));
  const auto run = [](Session& session, int64_t rows) {
    return session.run({tensor<float>({rows, 64}, std::vector<float>(static_cast<size_t>(rows) * 64, 0))}, {}, {});
  };
  constexpr int64_t kMost = 200;
  auto alone = g.session();
  ASSERT_TRUE(run(*alone, kMost).ok());
  SessionOptions options;
  options.limits.memory_bytes = alone->memory().peak() * 3 / 2;
  auto session = g.session(options);
  for (int64_t i = 1; i <= kMost; ++i) {
    // In an order that is neither growing nor shrinking.
    const int64_t rows = i * 77 % (kMost + 1);
    auto result = run(*session, rows == 0 ? kMost : rows);
    ASSERT_TRUE(result.ok()) << rows << ": " << result.status().to_string();
  }
  EXPECT_LE(session->memory().used(), alone->memory().peak() * 9 / 8);
}

// Weights that change between runs of the same shapes are seen, and so are contents that decide shapes.
TEST(Session, BoundRunsSeeNewInputs) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n});
  const ValueId shape = g.input("shape", DType::Int64, Shape{Dim(2)});
  g.output("y", g.node(OpId::Neg, {g.node(OpId::Reshape, {x, shape})}));
  auto session = g.session();
  const Value numbers = tensor<float>({6}, {1, 2, 3, 4, 5, 6});
  for (int round = 0; round < 3; ++round)
    for (const int64_t rows : {1, 2, 3, 6}) {
      auto result = session->run({numbers, tensor<int64_t>({2}, {rows, 6 / rows})}, {}, {});
      ASSERT_TRUE(result.ok()) << result.status().to_string();
      EXPECT_THAT((*result)[0].tensor()->dims(), ElementsAre(rows, 6 / rows));
      EXPECT_THAT(elements<float>((*result)[0]), ElementsAre(-1, -2, -3, -4, -5, -6));
    }
}

// Results may lie where an input was, unless somebody still reads it.
TEST(Session, WorksInPlaceWhereNobodyReadsAnyMore) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n, Dim(2)});
  const ValueId flat = g.weight<int64_t>("flat", {1}, {-1});
  const ValueId a = g.node(OpId::Neg, {x});
  const ValueId same = g.node(OpId::Reshape, {a, flat});  // a under another shape
  const ValueId b = g.node(OpId::Exp, {a});               // must not overwrite what `same` reads
  const ValueId c = g.node(OpId::Neg, {same});
  const ValueId d = g.node(OpId::Neg, {b});
  const ValueId e = g.node(OpId::Mul, {d, b});
  g.output("c", g.node(OpId::Abs, {c}));
  g.output("e", g.node(OpId::Abs, {e}));
  auto session = g.session();
  for (int round = 0; round < 2; ++round) {
    auto result = session->run({tensor<float>({1, 2}, {0, -1})}, {}, {});
    ASSERT_TRUE(result.ok()) << result.status().to_string();
    EXPECT_THAT(elements<float>((*result)[0]), ElementsAre(0, 1));
    EXPECT_THAT(elements<float>((*result)[1]), ElementsAre(1, testing::FloatNear(7.389056f, 1e-5f)));
  }
}

TEST(Session, MoreShapesThanTheCacheHolds) {
  SessionOptions options;
  options.limits.cached_bindings = 2;
  auto session = linear().session(options);
  for (int64_t rows = 1; rows < 20; ++rows) {
    auto result =
        session->run({tensor<float>({rows, 2}, std::vector<float>(static_cast<size_t>(rows) * 2, 1))}, {}, {});
    ASSERT_TRUE(result.ok());
    EXPECT_EQ((*result)[0].tensor()->dims()[0], rows);
  }
}

}  // namespace
}  // namespace tenon
