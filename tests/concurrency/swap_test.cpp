// New weights while others run: each run sees one whole set, and none fails.
#include <atomic>
#include <thread>

#include "plan/keys.h"
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

// y = x * [0, 1, ..., to - 1], whose plan depends on `to`.
SmallGraph counting(float to) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim(1)});
  const ValueId range = g.node(OpId::Range, {g.weight<float>("from", {}, {0}), g.weight<float>("to", {}, {to}),
                                             g.weight<float>("step", {}, {1})});
  g.output("y", g.node(OpId::Mul, {x, range}));
  return g;
}

std::shared_ptr<const WeightSource> up_to(float to) {
  return weights_in_memory({{"to", Tensor::of<float>({}, std::span<const float>(&to, 1))}}, false);
}

Result<RecompiledModel> compile_counting(const ReplacedWeights& replaced, const std::string& target) {
  TN_ASSIGN_OR_RETURN(const Tensor to, replaced("to")->value());
  TN_ASSIGN_OR_RETURN(const CompiledModel compiled, compile(counting(to.as<float>()[0]).graph, {target, {}}));
  RecompiledModel model{compiled.program, plan_key(*compiled.program), {}};
  for (const Constant& c : compiled.sources)
    model.weights.sources.push_back(std::make_shared<SourceBytes>(SourceBytes{c.tensor, c.load, std::nullopt}));
  return model;
}

TEST_P(SwapUnderLoad, EachRunSeesOnePlanWithItsWeights) {
  SessionOptions options;
  const std::string target = GetParam();
  options.recompile = [target](const ReplacedWeights& replaced) { return compile_counting(replaced, target); };
  auto left = counting(3).session(options, target), right = counting(3).session(options, target);
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0}, runs{0};
  std::vector<std::thread> runners;
  for (int t = 0; t < 3; ++t)
    runners.emplace_back([&] {
      while (!done) {
        auto result = left->run({tensor<float>({1}, {2})}, {}, {});
        ++runs;
        if (!result.ok()) {
          ++wrong;
          continue;
        }
        const auto y = elements<float>((*result)[0]);
        wrong += y.size() < 3 || y.size() > 6;
        for (size_t i = 0; i < y.size(); ++i) wrong += y[i] != 2.0f * static_cast<float>(i);
      }
    });
  // Weights that are taken from one session fit the other one, or are refused because plans have changed since.
  std::thread copier([&] {
    while (!done) {
      const Status status = Session::use_weights_together({{right.get(), left->keyed_weights()}});
      wrong += !status.ok() && status.code() != Code::Incompatible;
      wrong += left->program()->plan.output_names.size() != 1;
    }
  });
  while (runs == 0) std::this_thread::yield();
  Session* const both[] = {left.get(), right.get()};
  SwapOptions swap;
  swap.partial = swap.recompile = true;
  for (int i = 0; i < 100; ++i) {
    const auto source = up_to(static_cast<float>(3 + i % 4));
    const auto reports =
        Session::set_weights_together(both, [&](const WeightSnapshot&) { return Result(source); }, swap);
    ASSERT_TRUE(reports.ok()) << reports.status().to_string();
    EXPECT_EQ((*reports)[0].recompiled.has_value(), i > 0);
  }
  done = true;
  for (std::thread& t : runners) t.join();
  copier.join();
  EXPECT_EQ(wrong, 0);
}

TEST(SessionWithoutCompiler, SaysWhoCouldCompile) {
  auto session = counting(3).session();
  SwapOptions swap;
  swap.partial = swap.recompile = true;
  const Status refusal = session->set_weights(up_to(4), swap).status();
  EXPECT_EQ(refusal.code(), Code::GuardViolated);
  EXPECT_NE(refusal.to_string().find("'to'"), std::string::npos) << refusal.to_string();
  EXPECT_NE(refusal.to_string().find("link libtenon"), std::string::npos) << refusal.to_string();
  EXPECT_EQ(elements<float>((*session->run({tensor<float>({1}, {2})}, {}, {}))[0]).size(), 3u);
}

INSTANTIATE_TEST_SUITE_P(Targets, SwapUnderLoad, testing::Values("reference", "cpu"));

}  // namespace
}  // namespace tenon
