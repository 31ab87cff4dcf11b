// Runs of known shapes allocate nothing. Every allocation of the process passes through here and is counted.
#include <gtest/gtest.h>
#include <tenon/tenon.hpp>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "api/onnx_text.h"

namespace {

std::atomic<int64_t> allocations{0};

}  // namespace

extern "C" {

// The C library's own, under names that it keeps for those who replace the others.
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
}

namespace {

using onnx_text::kFloat;

// A session with buffers for its one input and its one output.
class BoundSession {
 public:
  BoundSession(const std::string& model, const std::vector<int64_t>& in, const std::vector<int64_t>& out,
               const tenon::Options& options)
      : session_(tenon::Model::from_memory(model), options), x_(tenon::Value::allocate(TN_FLOAT32, in)),
        y_(tenon::Value::allocate(TN_FLOAT32, out)) {
    for (float& x : x_.data<float>()) x = 1;
  }
  void run() {
    const tn_value* in = x_.get();
    tn_value* out = y_.get();
    tn_status* status = tn_session_run(session_.get(), nullptr, &in, 1, nullptr, &out, 1);
    ASSERT_EQ(status, nullptr) << tn_status_message(status);
  }
  int64_t allocations_of_a_run() {
    // The first binds; the second may still grow lists that are kept.
    run();
    run();
    const int64_t before = allocations.load();
    run();
    return allocations.load() - before;
  }
  tenon::Session& session() { return session_; }

 private:
  tenon::Session session_;
  tenon::Value x_, y_;
};

std::string chain(const std::vector<onnx_text::Node>& nodes, const std::vector<onnx_text::Extent>& in,
                  const std::vector<onnx_text::Extent>& out, const std::vector<std::string>& weights = {}) {
  onnx_text::Model model;
  model.nodes = nodes;
  model.inputs = {onnx_text::value("x", onnx_text::tensor_type(kFloat, in))};
  model.outputs = {onnx_text::value("y", onnx_text::tensor_type(kFloat, out))};
  model.weights = weights;
  return model.to_bytes();
}

TEST(Allocations, AreCounted) {
  const int64_t before = allocations.load();
  std::free(std::malloc(10));
  EXPECT_EQ(allocations.load(), before + 1);
}

TEST(Allocations, NoneInRunsOfElementwiseSteps) {
  const std::string model = chain({{"Neg", {"x"}, {"a"}, "", "", {}},
                                   {"Exp", {"a"}, {"b"}, "", "", {}},
                                   {"Mul", {"a", "b"}, {"c"}, "", "", {}},
                                   {"Add", {"c", "w"}, {"y"}, "", "", {}}},
                                  {"n", 4}, {"n", 4}, {onnx_text::weight("w", {4}, {1, 2, 3, 4})});
  EXPECT_EQ(BoundSession(model, {3, 4}, {3, 4}, {{"threads", "1"}}).allocations_of_a_run(), 0);
}

TEST(Allocations, NoneInRunsOfPackedProducts) {
  for (const char* threads : {"1", "2"})
    EXPECT_EQ(BoundSession(onnx_text::linear(), {64, 2}, {64, 2}, {{"threads", threads}}).allocations_of_a_run(), 0);
}

TEST(Allocations, NoneInRunsOfPackedConvolutions) {
  const std::string model =
      chain({{"Conv", {"x", "w"}, {"c"}, "", "", {}}, {"Relu", {"c"}, {"y"}, "", "", {}}}, {1, 2, 9, 9}, {1, 3, 7, 7},
            {onnx_text::weight("w", {3, 2, 3, 3}, std::vector<float>(54, 0.5f))});
  for (const char* threads : {"1", "2"})
    EXPECT_EQ(BoundSession(model, {1, 2, 9, 9}, {1, 3, 7, 7}, {{"threads", threads}}).allocations_of_a_run(), 0);
}

TEST(Allocations, NoneInRunsOfWindows) {
  std::string kernel = onnx_text::bytes(1, "kernel_shape") + onnx_text::number(20, 7);
  for (int i = 0; i < 2; ++i) kernel += onnx_text::number(8, 2);
  const std::string model = chain({{"ConvTranspose", {"x", "w"}, {"c"}, "", "", {}},
                                   {"MaxPool", {"c"}, {"m"}, "", "", {kernel}},
                                   {"Resize", {"m", "", "scales"}, {"y"}, "", "", {}}},
                                  {1, 2, 9, 9}, {1, 3, 18, 18},
                                  {onnx_text::weight("w", {2, 3, 2, 2}, std::vector<float>(24, 0.5f)),
                                   onnx_text::weight("scales", {4}, {1, 1, 2, 2})});
  for (const char* threads : {"1", "2"})
    EXPECT_EQ(BoundSession(model, {1, 2, 9, 9}, {1, 3, 18, 18}, {{"threads", threads}}).allocations_of_a_run(), 0);
}

// A shape that was bound before is found again, also after others.
TEST(Allocations, NoneWhenAShapeComesBack) {
  const tenon::Session session(tenon::Model::from_memory(onnx_text::linear()), {{"threads", "1"}});
  std::vector<tenon::Value> in, out;
  for (int64_t rows : {1, 5, 9}) {
    in.push_back(tenon::Value::allocate(TN_FLOAT32, {rows, 2}));
    out.push_back(tenon::Value::allocate(TN_FLOAT32, {rows, 2}));
  }
  const auto run_all = [&] {
    for (size_t i = 0; i < in.size(); ++i) {
      const tn_value* x = in[i].get();
      tn_value* y = out[i].get();
      ASSERT_EQ(tn_session_run(session.get(), nullptr, &x, 1, nullptr, &y, 1), nullptr);
    }
  };
  run_all();
  run_all();
  const int64_t before = allocations.load();
  run_all();
  EXPECT_EQ(allocations.load(), before);
}

}  // namespace
