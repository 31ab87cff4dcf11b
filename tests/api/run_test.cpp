// Sessions and runs: shapes, buffers, cancelling, profiles, limits, threads.
#include <gmock/gmock.h>
#include <tenon/tenon.hpp>

#include <filesystem>
#include <thread>

#include "api/error_of.h"
#include "api/onnx_text.h"

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Runs : public testing::Test {
 protected:
  tenon::Value ones(int64_t rows) {
    data.assign(static_cast<size_t>(2 * rows), 1.0f);
    return tenon::Value::tensor<float>({rows, 2}, data);
  }
  tenon::Model model = tenon::Model::from_memory(onnx_text::linear());
  std::vector<float> data;
};

TEST_F(Runs, EveryShapeOfASymbol) {
  const tenon::Session session(model);
  EXPECT_EQ(session.input_type(0).dim_text(0), "n");
  for (int64_t rows : {1, 3, 0, 3}) {
    const auto outputs = session.run({ones(rows)});
    EXPECT_THAT(outputs[0].dims(), ElementsAre(rows, 2));
    for (int64_t i = 0; i < rows; ++i) EXPECT_EQ(outputs[0].data<float>()[static_cast<size_t>(2 * i + 1)], 7);
  }
}

TEST_F(Runs, AFixedSymbol) {
  const tenon::Session session(model, {{"dim:n", "2"}});
  EXPECT_THAT(*session.input_type(0).dims(), ElementsAre(2, 2));
  EXPECT_EQ(code_of([&] { session.run({ones(2)}); }), TN_OK);
  EXPECT_EQ(code_of([&] { session.run({ones(3)}); }), TN_INVALID_ARGUMENT);
}

TEST_F(Runs, CallersBuffer) {
  const tenon::Session session(model);
  std::vector<float> memory(2, -1.0f);
  std::vector<tenon::Value> outputs = {tenon::Value::tensor<float>({1, 2}, memory)};
  const tn_value* handle = outputs[0].get();
  const std::vector<tenon::Value> inputs = {ones(1)};
  session.run(inputs, outputs);
  EXPECT_THAT(memory, ElementsAre(0, 7));
  EXPECT_EQ(outputs[0].get(), handle);
  std::vector<tenon::Value> wrong = {tenon::Value::tensor<float>({2, 1}, memory)};
  EXPECT_EQ(code_of([&] { session.run(inputs, wrong); }), TN_INVALID_ARGUMENT);
}

TEST_F(Runs, TenonsBufferOutlivesTheSession) {
  std::vector<tenon::Value> outputs;
  {
    const tenon::Session session(tenon::Model::from_memory(onnx_text::linear()));
    outputs = session.run({ones(1)});
  }
  EXPECT_THAT(outputs[0].data<float>(), ElementsAre(0, 7));
}

TEST_F(Runs, UnwantedOutputsStayEmpty) {
  const tenon::Session session(model);
  std::vector<tenon::Value> outputs(1);
  const unsigned char wanted[] = {0};
  const std::vector<tenon::Value> inputs = {ones(1)};
  session.run(inputs, outputs, nullptr, wanted);
  EXPECT_FALSE(outputs[0]);
}

TEST_F(Runs, BorrowedMemoryIsReleasedOnce) {
  int released = 0;
  float memory[] = {1, 1};
  {
    const tenon::Value x = tenon::Value::borrow(
        TN_FLOAT32, {1, 2}, memory, sizeof memory, [](void* count) { ++*static_cast<int*>(count); }, &released);
    const tenon::Value copy = x;
    tenon::Session(model).run({copy});
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST_F(Runs, CancelAndReset) {
  const tenon::Session session(model);
  tenon::Run run;
  std::thread([&] { run.cancel(); }).join();
  EXPECT_EQ(code_of([&] { session.run({ones(1)}, &run); }), TN_CANCELLED);
  run.reset();
  EXPECT_EQ(code_of([&] { session.run({ones(1)}, &run); }), TN_OK);
}

TEST_F(Runs, AsksWhetherToStopWhileItRuns) {
  // A loop that would take minutes.
  const tenon::Model loop = tenon::Model::from_memory(onnx_text::endless_loop());
  const tenon::Session session(loop, {{"loop_limit", "1000000000000"}});
  tenon::Run run;
  int asked = 0;
  const auto here = std::this_thread::get_id();
  std::pair<int*, std::thread::id> user{&asked, here};
  run.ask(
      [](void* data) {
        auto& [count, thread] = *static_cast<std::pair<int*, std::thread::id>*>(data);
        EXPECT_EQ(std::this_thread::get_id(), thread);
        return ++*count == 2 ? 1 : 0;
      },
      &user);
  EXPECT_EQ(code_of([&] { session.run({}, &run); }), TN_CANCELLED);
  EXPECT_EQ(asked, 2);
  asked = 0;
  tenon::Session(model).run({ones(1)}, &run);
  EXPECT_EQ(asked, 0) << "a short run";
}

TEST_F(Runs, Profile) {
  const tenon::Session session(model);
  tenon::Run run;
  run.enable_profile();
  session.run({ones(1)}, &run);
  const std::string profile = run.profile_json();
  EXPECT_LT(profile.find("multiply"), profile.find("shift"));
  EXPECT_LT(profile.find("shift"), profile.find("cut"));
  EXPECT_THAT(profile, AllOf(HasSubstr("\"duration_us\""), HasSubstr("\"bytes\"")));
  run.enable_profile(false);
  session.run({ones(1)}, &run);
  EXPECT_EQ(run.profile_json(), profile) << "it is that of the last profiled run";
}

TEST(MachineSpeed, IsThatOfTheContext) {
  const std::string speed = tenon::Context({{"threads", "1"}}).machine_speed_json();
  EXPECT_THAT(speed, AllOf(HasSubstr("\"threads\": 1"), HasSubstr("\"cpu_isa\"")));
  EXPECT_THAT(speed, AllOf(HasSubstr("\"flops_per_second\""), HasSubstr("\"bytes_per_second\"")));
  EXPECT_EQ(code_of([] { tenon::detail::check(tn_machine_speed_json(nullptr, nullptr)); }), TN_INVALID_ARGUMENT);
}

TEST_F(Runs, MemoryLimit) {
  const tenon::Session session(model, {{"memory_limit", "1000"}});
  EXPECT_EQ(code_of([&] { session.run({ones(1)}); }), TN_OK);
  EXPECT_EQ(code_of([&] { session.run({ones(1000)}); }), TN_RESOURCE_LIMIT);
  EXPECT_EQ(code_of([&] { session.run({ones(1)}); }), TN_OK);
  int64_t used = -1, peak = -1;
  tn_session_memory(session.get(), &used, &peak);
  EXPECT_GT(peak, 0);
  EXPECT_LE(peak, 1000);
  const tenon::Context small({{"memory_limit", "100"}, {"threads", "1"}});
  EXPECT_EQ(small.threads(), 1);
  EXPECT_EQ(code_of([&] { tenon::Session(small, model).run({ones(1000)}); }), TN_RESOURCE_LIMIT);
}

int64_t threads_of_process() {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
}

TEST_F(Runs, ASessionOfOneThreadMakesNoHelpers) {
  const tenon::Context context({{"threads", "3"}});
  const int64_t before = threads_of_process();
  const tenon::Session alone(context, model, {{"threads", "1"}});
  EXPECT_EQ(alone.run({ones(1)})[0].data<float>()[1], 7);
  EXPECT_EQ(threads_of_process(), before);
  const tenon::Session helped(context, model, {{"threads", "2"}});
  EXPECT_EQ(helped.run({ones(1)})[0].data<float>()[1], 7);
  EXPECT_EQ(threads_of_process(), before + 2);  // those of the context, whatever a session takes of them
  const tenon::Error error = error_of([&] { tenon::Session(context, model, {{"threads", "-1"}}); });
  EXPECT_EQ(error.code(), TN_INVALID_ARGUMENT);
  EXPECT_THAT(error.what(), HasSubstr("'threads'"));
}

TEST_F(Runs, KeptValuesComeInOrderOfComputation) {
  const tenon::Session session(model, {{"keep_values", "1"}, {"provider", "reference"}});
  const auto outputs = session.run({ones(1)});
  ASSERT_EQ(outputs.size(), 4u);
  const char* names[] = {"y", "product", "sum", "y"};
  const char* nodes[] = {"cut", "multiply", "shift", "cut"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(session.output_name(i), names[i]);
    EXPECT_EQ(session.output_node(i), nodes[i]);
  }
  EXPECT_THAT(outputs[1].data<float>(), ElementsAre(4, 6));
  EXPECT_THAT(outputs[2].data<float>(), ElementsAre(-6, 7));
  EXPECT_THAT(outputs[3].data<float>(), ElementsAre(0, 7));
}

TEST_F(Runs, OneSessionManyThreads) {
  const tenon::Session session(model);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> x(static_cast<size_t>(2 * t), 1.0f);
      for (int i = 0; i < 50; ++i) {
        const auto outputs = session.run({tenon::Value::tensor<float>({t, 2}, x)});
        wrong += outputs[0].dims()[0] != t || outputs[0].data<float>()[1] != 7;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Runs, WrongInputsAreNamed) {
  const tenon::Session session(model);
  try {
    session.run({tenon::Value()});
    FAIL();
  } catch (const tenon::Error& error) {
    EXPECT_EQ(error.code(), TN_INVALID_ARGUMENT);
    EXPECT_THAT(error.what(), HasSubstr("input 'x' float[n, 2] is missing"));
  }
  EXPECT_EQ(code_of([&] { session.run({}); }), TN_INVALID_ARGUMENT);
}

}  // namespace
