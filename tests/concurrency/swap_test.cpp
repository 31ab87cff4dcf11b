// New weights while others run: each run sees one whole set, and none fails.
#include <atomic>
#include <thread>

#include "support/small_graph.h"

namespace tenon {
namespace {

using test::elements;
using test::SmallGraph;
using test::tensor;

constexpr int64_t kWidth = 32;
constexpr int kSwaps = 1000;

// Two products, so that a mixture of two sets would show.
SmallGraph two_layers() {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim::symbol("n"), Dim(kWidth)});
  const std::vector<float> ones(kWidth * kWidth, 1);
  const ValueId first = g.node(OpId::MatMul, {x, g.weight<float>("w", {kWidth, kWidth}, ones)});
  g.output("y", g.node(OpId::MatMul, {first, g.weight<float>("v", {kWidth, kWidth}, ones)}));
  return g;
}

std::shared_ptr<const WeightSource> all(float value) {
  const std::vector<float> elements(kWidth * kWidth, value);
  const Tensor tensor = Tensor::of<float>({kWidth, kWidth}, std::span<const float>(elements));
  return weights_in_memory({{"w", tensor}, {"v", tensor}}, false);
}

// What the model gives for ones with weights that are all `value`.
float expected(float value) { return value * value * kWidth * kWidth; }

class SwapUnderLoad : public testing::TestWithParam<const char*> {};

TEST_P(SwapUnderLoad, EachRunSeesOneSet) {
  auto session = two_layers().session({}, GetParam());
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0}, runs{0};
  std::vector<std::thread> runners;
  for (int t = 0; t < 4; ++t)
    runners.emplace_back([&] {
      while (!done) {
        auto result = session->run({tensor<float>({1, kWidth}, std::vector<float>(kWidth, 1))}, {}, {});
        ++runs;
        if (!result.ok()) {
          ++wrong;
          continue;
        }
        const auto y = elements<float>((*result)[0]);
        for (const float v : y) wrong += v != y[0] || (v != expected(1) && v != expected(2));
      }
    });
  while (runs == 0) std::this_thread::yield();
  const auto one = all(1), two = all(2);
  for (int i = 0; i < kSwaps; ++i) {
    const auto report = session->set_weights(i % 2 ? one : two, {});
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    EXPECT_EQ(report->slots_redone, 2u);
  }
  done = true;
  for (std::thread& t : runners) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(runs, 0);
}

TEST_P(SwapUnderLoad, SessionsSwitchTogether) {
  const SmallGraph graph = two_layers();
  auto left = graph.session({}, GetParam()), right = graph.session({}, GetParam());
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  // Whoever saw the new weights on the left finds them on the right.
  std::thread watcher([&] {
    const auto value = [](Session& session) {
      auto result = session.run({tensor<float>({1, kWidth}, std::vector<float>(kWidth, 1))}, {}, {});
      return elements<float>((*result)[0])[0];
    };
    float newest = expected(1);
    while (!done) {
      newest = std::max(newest, value(*left));
      wrong += value(*right) < newest;
    }
  });
  Session* const both[] = {left.get(), right.get()};
  for (int i = 2; i < 200; ++i) {
    const auto reports = Session::set_weights_together(
        both, [&](const WeightSnapshot&) { return Result(all(static_cast<float>(i))); }, {});
    ASSERT_TRUE(reports.ok()) << reports.status().to_string();
  }
  done = true;
  watcher.join();
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, SwapUnderLoad, testing::Values("reference", "cpu"));

}  // namespace
}  // namespace tenon
