// Many threads, one session: each run is right, whatever the others do.
#include <atomic>
#include <thread>

#include "support/small_graph.h"

namespace tenon {
namespace {

using test::elements;
using test::SmallGraph;
using test::tensor;

TEST(Concurrency, EightThreadsShareOneSession) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim::symbol("n"), Dim(3)});
  const ValueId w = g.weight<float>("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  const ValueId sum = g.node(OpId::Add, {g.node(OpId::MatMul, {x, w}), g.weight<float>("b", {2}, {0.5f, -0.5f})});
  g.output("y", g.node(OpId::Reshape, {g.node(OpId::Relu, {sum}), g.node(OpId::Shape, {sum})}));
  SessionOptions options;
  options.limits.cached_bindings = 3;  // fewer than the shapes in use, so bindings come and go under load
  auto session = g.session(options);

  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const int64_t rows = 1 + (t + i) % 5;
        const float value = static_cast<float>(t * 1000 + i);
        auto result =
            session->run({tensor<float>({rows, 3}, std::vector<float>(static_cast<size_t>(rows) * 3, value))}, {}, {});
        if (!result.ok() || (*result)[0].tensor()->dims() != std::vector<int64_t>{rows, 2}) {
          ++wrong;
          continue;
        }
        const auto y = elements<float>((*result)[0]);
        for (int64_t r = 0; r < rows; ++r)
          wrong += y[static_cast<size_t>(2 * r)] != value * 9 + 0.5f ||
                   y[static_cast<size_t>(2 * r + 1)] != std::max(0.0f, value * 12 - 0.5f);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(session->memory().limit(), options.limits.memory_bytes);
}

TEST(Concurrency, CancellingOneRunLeavesTheOthersAlone) {
  SmallGraph g;
  ValueId v = g.input("x", DType::Float32, Shape{Dim::symbol("n")});
  for (int i = 0; i < 50; ++i) v = g.node(OpId::Relu, {v});
  g.output("y", v);
  auto session = g.session();
  std::atomic<bool> cancelled{false};
  std::thread victim([&] {
    RunOptions options;
    options.cancelled = &cancelled;
    for (;;) {
      auto result = session->run({tensor<float>({1000}, std::vector<float>(1000, 1))}, {}, options);
      if (!result.ok()) {
        EXPECT_EQ(result.status().code(), Code::Cancelled);
        return;
      }
    }
  });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(session->run({tensor<float>({3}, {1, 2, 3})}, {}, {}).ok());
  cancelled = true;
  victim.join();
}

TEST(Concurrency, ALongKernelStopsWhenItsRunIsCancelled) {
  SmallGraph g;
  constexpr int64_t kWidth = 1024;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim::symbol("n"), Dim(kWidth)});
  const std::vector<float> ones(kWidth * kWidth, 1);
  g.output("y", g.node(OpId::MatMul, {x, g.weight<float>("w", {kWidth, kWidth}, ones)}));
  SessionOptions options;
  options.pool = std::make_shared<ThreadPool>(1);
  auto session = g.session(options, "cpu");
  // Asked a while after the run began, so in the middle of its only step.
  int questions = 0;
  RunOptions run;
  run.stop = {[](void* user) { return ++*static_cast<int*>(user) > 0 ? 1 : 0; }, &questions};
  const int64_t rows = 20000;
  const auto result =
      session->run({tensor<float>({rows, kWidth}, std::vector<float>(static_cast<size_t>(rows * kWidth), 1))}, {}, run);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::Cancelled);
  EXPECT_EQ(questions, 1);
}

}  // namespace
}  // namespace tenon
