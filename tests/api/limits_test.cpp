// What ends a run that would not end, and handles that are not there.
#include <gmock/gmock.h>
#include <tenon/tenon.hpp>

#include <thread>

#include "api/onnx_text.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;

// Doubles a number for as long as its second input says so.
std::string endless_loop() {
  using namespace onnx_text;
  const std::string flag = tensor_type(9, {}), count = tensor_type(kInt64, {});
  const auto node = [](const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
    std::string message;
    for (const std::string& input : inputs) message += bytes(1, input);
    return bytes(1, message + bytes(2, output) + bytes(4, op));
  };
  const std::string body = node("Identity", {"go"}, "again") + node("Add", {"number", "number"}, "next") +
                           bytes(2, "body") + bytes(11, value("i", count)) + bytes(11, value("go", flag)) +
                           bytes(11, value("number", count)) + bytes(12, value("again", flag)) +
                           bytes(12, value("next", count));
  Model model;
  model.nodes = {
      {"Loop", {"", "go_on", "start"}, {"end"}, "repeat", "", {bytes(1, "body") + bytes(6, body) + number(20, 5)}}};
  model.inputs = {value("go_on", flag), value("start", count)};
  model.outputs = {value("end", count)};
  return model.to_bytes();
}

class Limits : public testing::Test {
 protected:
  std::vector<tenon::Value> inputs() {
    return {tenon::Value::tensor<bool>({}, std::span<bool>(&go_on, 1)), tenon::Value::tensor<int64_t>({}, start)};
  }
  bool go_on = true;
  std::vector<int64_t> start{1};
  tenon::Model model = tenon::Model::from_memory(endless_loop());
};

TEST_F(Limits, EndsALoopAtTheLimit) {
  const tenon::Session session(model, {{"loop_limit", "1000"}});
  try {
    session.run(inputs());
    FAIL() << "the loop ended";
  } catch (const tenon::Error& error) {
    EXPECT_EQ(error.code(), TN_RESOURCE_LIMIT);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("repeat"), HasSubstr("1000")));
  }
  go_on = false;
  EXPECT_EQ(session.run(inputs())[0].data<int64_t>()[0], 1);
}

TEST_F(Limits, CancelsARunThatIsUnderWay) {
  const tenon::Session session(model, {{"loop_limit", "1000000000000"}});
  tenon::Run leader, follower;
  follower.follow(leader);
  std::thread watcher([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    leader.cancel();
  });
  try {
    session.run(inputs(), &follower);
    ADD_FAILURE() << "the loop ended";
  } catch (const tenon::Error& error) {
    EXPECT_EQ(error.code(), TN_CANCELLED);
  }
  watcher.join();
}

// Ifs in Ifs, this many, around the negative of a number.
std::string nested_branches(int count) {
  using namespace onnx_text;
  const std::string result = bytes(12, value("r", tensor_type(kFloat, {})));
  const std::string leaf = bytes(1, bytes(1, "x") + bytes(2, "r") + bytes(4, "Neg")) + bytes(2, "leaf") + result;
  const auto branch = [](const std::string& name, const std::string& graph) {
    return bytes(1, name) + bytes(6, graph) + number(20, 5);
  };
  std::string body = leaf;
  for (int i = 1; i < count; ++i) {
    const std::string node = bytes(1, "go") + bytes(2, "r") + bytes(4, "If");
    const std::string branches = bytes(5, branch("then_branch", body)) + bytes(5, branch("else_branch", leaf));
    body = bytes(1, node + branches) + bytes(2, "body") + result;
  }
  Model model;
  model.nodes = {{"If", {"go"}, {"y"}, "outermost", "", {branch("then_branch", body), branch("else_branch", leaf)}}};
  model.inputs = {value("go", tensor_type(9, {})), value("x", tensor_type(kFloat, {}))};
  model.outputs = {value("y", tensor_type(kFloat, {}))};
  return model.to_bytes();
}

TEST(Nesting, WhatLoadsIsNotTooDeepToRun) {
  const auto load = [](int bodies, const std::string& limit) {
    return tenon::Model::from_memory(nested_branches(bodies), {{"max_nesting", limit}});
  };
  bool go = true;
  float x = 2;
  for (const auto& [bodies, limit] : {std::pair(63, "64"), std::pair(255, "256"), std::pair(255, "1000000")}) {
    const tenon::Session session(load(bodies, limit));
    const auto results = session.run({tenon::Value::tensor<bool>({}, std::span<bool>(&go, 1)),
                                      tenon::Value::tensor<float>({}, std::span<float>(&x, 1))});
    EXPECT_EQ(results[0].data<float>()[0], -2);
    EXPECT_THROW(load(bodies + 1, limit), tenon::Error);
  }
}

TEST(NullHandles, AreRefusedNotFollowed) {
  const auto refused = [](tn_status* status) {
    const tn_code code = tn_status_code(status);
    tn_status_release(status);
    return code == TN_INVALID_ARGUMENT;
  };
  EXPECT_TRUE(refused(tn_model_load_file(nullptr, nullptr, nullptr, nullptr)));
  EXPECT_TRUE(refused(tn_model_load_memory(nullptr, nullptr, 1, nullptr, nullptr)));
  EXPECT_TRUE(refused(tn_session_create(nullptr, nullptr, nullptr, nullptr)));
  EXPECT_TRUE(refused(tn_session_run(nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0)));
  EXPECT_TRUE(refused(tn_tensor_create(TN_FLOAT32, nullptr, 1, nullptr, 4, nullptr, nullptr, nullptr)));
  EXPECT_TRUE(refused(tn_sequence_create(nullptr, 1, nullptr, nullptr)));
  EXPECT_TRUE(refused(tn_options_set(nullptr, "threads", "1")));
  tn_status_release(nullptr);
  tn_value_release(nullptr);
  tn_session_release(nullptr);
  tn_model_release(nullptr);
  tn_run_release(nullptr);
  EXPECT_EQ(tn_status_code(nullptr), TN_OK);
  EXPECT_STREQ(tn_status_message(nullptr), "");
}

}  // namespace
