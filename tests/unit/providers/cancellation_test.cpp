// Kernels ask often enough whether their run goes on. Counted in elements, so that no clock decides.
#include <gtest/gtest.h>

#include <optional>

#include "ops/concat.h"
#include "ops/normalization.h"
#include "ops/packed.h"
#include "ops/recurrent.h"
#include "ops/softmax.h"
#include "ops/split.h"
#include "providers/cpu/kernel.h"
#include "unit/providers/run_kernel.h"

namespace tenon {
namespace {

using namespace test;

// Three times the work after which a kernel asks.
constexpr int64_t kMany = 3 << 19;

class Watch final : public PlainServices {
 public:
  explicit Watch(int64_t patience) : patience_(patience) {}
  Status check_cancelled() override {
    return ++questions > patience_ ? error(Code::Cancelled, "no more patience") : Status();
  }
  uint64_t random_stream() override { return 7; }
  // As a run's services do, each chunk asks.
  void parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body) override {
    for (int64_t i = 0; i < chunks; ++i) {
      poll_cancelled();
      body(i);
    }
  }
  int64_t questions = 0;

 private:
  int64_t patience_;
};

Tensor zeros(DType dtype, std::vector<int64_t> dims) {
  Tensor tensor = Tensor::allocate(dtype, std::move(dims), nullptr).value();
  if (tensor.bytes() > 0) std::memset(tensor.mutable_data(), 0, static_cast<size_t>(tensor.bytes()));
  return tensor;
}
Tensor floats(std::vector<int64_t> dims) { return zeros(DType::Float32, std::move(dims)); }
Tensor list(const std::vector<int64_t>& numbers) {
  return Tensor::of<int64_t>({static_cast<int64_t>(numbers.size())}, numbers);
}
Tensor one() { return Tensor::of<float>({}, std::vector<float>{1}); }

struct Case {
  std::string op;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;     // their types and shapes
  std::optional<Params> params{};  // none: the defaults of the op
};

std::vector<Case> cases() {
  const Tensor many = floats({kMany}), half = zeros(DType::Float16, {kMany}), row = floats({1, kMany});
  const Tensor plane = floats({1, 1, kMany}), channel = floats({1}), bytes = zeros(DType::UInt8, {kMany});
  const Tensor integers = zeros(DType::Int64, {kMany}), zero = Tensor::scalar(0);
  return {
      {"RandomUniform", {}, {many}},
      {"RandomNormal", {}, {many}},
      {"Bernoulli", {many}, {many}},
      {"Multinomial", {floats({1, 3})}, {zeros(DType::Int32, {1, kMany})}},
      {"Dropout", {many}, {many}},
      {"Cast", {many}, {half}},
      {"Cast", {integers}, {zeros(DType::Int4, {kMany})}},
      {"QuantizeLinear", {many, one()}, {bytes}},
      {"DequantizeLinear", {bytes, one()}, {many}},
      {"DynamicQuantizeLinear", {many}, {bytes, one(), zeros(DType::UInt8, {})}},
      {"Relu", {many}, {many}},
      {"Add", {many, one()}, {many}},
      {"IsNaN", {many}, {zeros(DType::Bool, {kMany})}},
      {"Shrink", {many}, {many}},
      {"Affine", {many}, {many}},
      {"Softmax", {many}, {many}},
      {"LogSoftmax", {many}, {many}},
      {"Hardmax", {many}, {many}},
      {"ReduceSum", {many}, {floats({1})}},
      {"ReduceMax", {many}, {floats({1})}},
      {"ReduceProd", {many}, {floats({1})}},
      {"ReduceLogSumExp", {many}, {floats({1})}},
      {"ArgMax", {many}, {zeros(DType::Int64, {1})}},
      {"CumSum", {many, zero}, {many}},
      {"LpNormalization", {many}, {many}},
      {"BatchNormalization", {plane, channel, channel, channel, channel}, {plane}},
      {"InstanceNormalization", {plane, channel, channel}, {plane}},
      {"GlobalAveragePool", {plane}, {floats({1, 1, 1})}},
      {"GlobalLpPool", {plane}, {floats({1, 1, 1})}},
      {"Identity", {many}, {many}},
      {"Reshape", {many}, {row}},
      {"Transpose", {row}, {floats({kMany, 1})}},
      {"Concat", {floats({kMany / 2}), floats({kMany / 2})}, {many}},
      {"Trilu", {row}, {row}},
      {"EyeLike", {row}, {row}},
      {"Range", {one(), one(), one()}, {many}},
      {"ConstantOfShape", {integers}, {many}},
      {"HannWindow", {zero}, {many}},
      {"GatherElements", {many, integers}, {many}},
      {"ScatterElements", {many, integers, many}, {many}},
      {"MurmurHash3", {integers}, {zeros(DType::UInt32, {kMany})}},
      {"Binarizer", {many}, {many}},
      {"Normalizer", {floats({kMany / 2, 2})}, {floats({kMany / 2, 2})}},
      {"Scaler", {many}, {many}},
      {"MatMul", {row, floats({kMany, 1})}, {floats({1, 1})}},
      {"MatMul", {floats({1, 1}), row}, {row}},
  };
}

// What the cpu provider computes itself and whose work may all be in one row, or in two rows that lie across.
std::vector<Case> cases_of_cpu() {
  const Tensor many = floats({kMany}), row = floats({1, kMany}), rows = floats({2, kMany}),
               columns = floats({kMany, 2});
  const Tensor plane = floats({1, 1, kMany}), planes = floats({1, 2, kMany}), channel = floats({1});
  const Tensor channels = floats({2}), first = list({0}), others = list({2});
  GroupNormalizationParams one_group;
  one_group.num_groups = 1;
  return {
      {"Softmax", {row}, {row}},
      {"Softmax", {columns}, {columns}, Params::of(SoftmaxParams{0})},
      {"LogSoftmax", {row}, {row}},
      {"LogSoftmax", {columns}, {columns}, Params::of(SoftmaxParams{0})},
      {"ReduceSum", {many}, {floats({1})}},
      {"ReduceL1", {many}, {floats({1})}},
      {"ReduceMax", {many}, {floats({1})}},
      {"ReduceProd", {columns, first}, {floats({1, 2})}},
      {"ReduceSum", {floats({kMany, 2, 1}), first}, {floats({1, 2, 1})}},
      {"ReduceMin", {floats({kMany / 2, 2, 2}), list({0, 2})}, {floats({1, 2, 1})}},
      {"LayerNormalization", {row, many}, {row}},
      {"RMSNormalization", {row, many}, {row}},
      {"InstanceNormalization", {plane, channel, channel}, {plane}},
      {"GroupNormalization", {planes, channels, channels}, {planes}, Params::of(one_group)},
      {"Transpose", {rows}, {columns}},
      {"Transpose", {columns}, {rows}},
      {"Concat", {floats({kMany, 1}), floats({kMany, 1})}, {columns}, Params::of(ConcatParams{1})},
      {"Split", {columns}, {floats({kMany, 1}), floats({kMany, 1})}, Params::of(SplitParams{1})},
      {"Expand", {channel, list({kMany - 1})}, {floats({kMany - 1})}},
      {"Slice", {floats({2 * kMany - 1}), first, list({2 * kMany - 1}), first, others}, {many}},
      {"Gather", {row, first}, {row}},
      {"Gather", {channel, zeros(DType::Int64, {kMany})}, {many}},
      {"MatMul", {row, floats({kMany, 1})}, {floats({1, 1})}},
      {"MatMul", {floats({1, 1}), row}, {row}},
  };
}

Status run(const std::string& family, const Params& params, const Case& c, Watch& watch) {
  std::vector<TensorView> in, out;
  for (const Tensor& t : c.inputs) in.push_back(t.view());
  std::vector<Tensor> outputs;
  for (const Tensor& t : c.outputs) outputs.push_back(zeros(t.dtype(), t.dims()));
  for (Tensor& t : outputs) out.push_back(t.view());
  const std::vector<const Value*> boxed(in.size(), nullptr);
  return call_kernel(*find_family(family), params, in, boxed, out, watch);
}

TEST(Cancellation, KernelsAskWhileTheyWork) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.op);
    const OpId op = op_from_name(c.op).value();
    Watch patient(1 << 20);
    const Status status = run("reference/" + c.op, default_params(op), c, patient);
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_GE(patient.questions, 2);
    Watch impatient(1);
    EXPECT_EQ(run("reference/" + c.op, default_params(op), c, impatient).code(), Code::Cancelled);
    EXPECT_EQ(impatient.questions, 2);
  }
}

// A chunk of a cpu kernel asks before it begins; one that is long also asks meanwhile.
TEST(Cancellation, CpuKernelsAskWithinARow) {
  for (const Case& c : cases_of_cpu()) {
    SCOPED_TRACE(c.op);
    const Params params = c.params.value_or(default_params(op_from_name(c.op).value()));
    Watch patient(1 << 20);
    const Status status = run("cpu/" + c.op, params, c, patient);
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_GE(patient.questions, 3);
    for (const int64_t patience : {1, 2}) {
      Watch impatient(patience);
      EXPECT_EQ(run("cpu/" + c.op, params, c, impatient).code(), Code::Cancelled);
      EXPECT_EQ(impatient.questions, patience + 1);
    }
  }
}

// Few results can have a depth of millions: chunks alone would be too long.
TEST(Cancellation, DeepProductsAskWithinAChunk) {
  PackedMatMulParams p;
  p.columns = {16};
  p.k = 1 << 16;
  const Case c{"PackedMatMul", {floats({1, p.k}), floats({1, p.k, 16})}, {floats({1, 16})}};
  for (const char* family : {"cpu/PackedMatMul", "reference/PackedMatMul"}) {
    SCOPED_TRACE(family);
    Watch impatient(0);
    EXPECT_EQ(run(family, Params::of(p), c, impatient).code(), Code::Cancelled);
  }
}

// Threads that share a step ask before each chunk; one that has a direction to itself asks on its way.
TEST(Cancellation, LayersOfManyUnitsAskWithinAStep) {
  LSTMParams p;
  p.common.direction = "bidirectional";
  p.common.hidden_size = 1024;
  p.common.weights = RecurrentWeights::Panels;
  const Case c{
      "LSTM", {floats({1, 1, 1}), floats({8, 64, 1, 16}), floats({8, 64, 1024, 16})}, {floats({1, 2, 1, 1024})}};
  Watch impatient(2);
  EXPECT_EQ(run("cpu/LSTM", Params::of(p), c, impatient).code(), Code::Cancelled);
  EXPECT_EQ(impatient.questions, 3);
}

}  // namespace
}  // namespace tenon
