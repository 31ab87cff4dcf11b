// Expressions of any form, on numbers that every instruction gives exactly: whatever waits in a slot, is loaded from a
// narrow type or is stored on the way must be right to the bit.
#include <algorithm>

#include "ops/pointwise.h"
#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

class Dice {
 public:
  explicit Dice(uint32_t seed) : state_(seed * 2654435761u + 1) {}
  size_t below(size_t count) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 16) % count;
  }

 private:
  uint32_t state_;
};

// Small whole numbers, which every type holds.
Tensor whole_numbers(DType dtype, const std::vector<int64_t>& dims, Dice& dice) {
  const auto count = static_cast<size_t>(count_of(dims));
  std::vector<float> values(count);
  for (float& v : values)
    v = static_cast<float>(dice.below(dtype == DType::Bool ? 2 : 15)) - (dtype == DType::Bool ? 0 : 7);
  const auto as = [&]<class T>(T) {
    std::vector<T> elements;
    for (const float v : values) elements.push_back(T(v));
    return Tensor::of<T>(dims, elements);
  };
  switch (dtype) {
    case DType::Float16:
      return as(Float16());
    case DType::BFloat16:
      return as(BFloat16());
    case DType::Bool: {
      const auto truths = std::make_shared<std::vector<uint8_t>>(values.begin(), values.end());
      return Tensor::borrow(DType::Bool, dims, truths->data(), truths);
    }
    default:
      return Tensor::of<float>(dims, values);
  }
}

PointwiseParams random_expression(Dice& dice, size_t inputs, size_t size, size_t results) {
  using enum PointwiseOp;
  static constexpr PointwiseOp kOps[] = {Abs, Add,   Clip,   Equal, Greater, Less,  LessOrEqual, Max,   Min,
                                         Neg, Not,   Or,     Relu,  Same,    Sign,  Sub,         Truth, Where,
                                         Xor, Round, ClipTo, Sub,   Add,     Where, Sub,         Floor, RoundToFloat16};
  PointwiseParams p;
  for (size_t i = 0; i < size; ++i) {
    PointwiseInstruction instruction{kOps[dice.below(std::size(kOps))], {-1, -1, -1}, {-5, 9}};
    // Mostly what was computed last.
    for (int k = 0; k < pointwise_info(instruction.op).operands; ++k)
      instruction.operands[k] = static_cast<int64_t>(
          i > 0 && dice.below(2) ? inputs + i - 1 - dice.below(std::min<size_t>(i, 3)) : dice.below(inputs + i));
    p.add(instruction);
  }
  for (size_t k = 0; k < results; ++k) {
    p.results.push_back(static_cast<int64_t>(k == 0 ? size - 1 : dice.below(size)));
    p.dtypes.push_back(static_cast<int64_t>(DType::Float32));
  }
  return p;
}

std::vector<Tensor> run_expression(const std::string& provider, const PointwiseParams& p,
                                   const std::vector<Tensor>& inputs, ThreadPool* pool = nullptr) {
  return run_kernel_outputs(provider + "/Pointwise", OpId::Pointwise, Params::of(p), inputs, p.results.size(), pool);
}

// All of the result's shape, so that every instruction has it; the others broadcast.
std::vector<Tensor> random_inputs(Dice& dice, const std::vector<int64_t>& dims, size_t count) {
  static constexpr DType kTypes[] = {DType::Float32, DType::Float32, DType::Float16, DType::BFloat16, DType::Bool};
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < count; ++i) {
    std::vector<int64_t> own = dims;
    for (int64_t& d : own)
      if (i > 0 && dice.below(4) == 0) d = 1;
    inputs.push_back(whole_numbers(kTypes[dice.below(std::size(kTypes))], own, dice));
  }
  return inputs;
}

TEST(PointwiseProgram, ComputesAnyExpression) {
  ThreadPool pool(2);
  const std::vector<std::vector<int64_t>> shapes{{3, 70}, {5, 256}, {2, 3, 2100}, {1}, {7, 1, 9}, {300}};
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const auto& dims = shapes[dice.below(shapes.size())];
    std::vector<Tensor> inputs = random_inputs(dice, dims, 1 + dice.below(5));
    PointwiseParams p = random_expression(dice, inputs.size(), 1 + dice.below(20), 1 + dice.below(3));
    // Results have one shape: each is compared with the first input, which has all elements.
    for (int64_t& r : p.results) {
      p.add({PointwiseOp::Max, {r + static_cast<int64_t>(inputs.size()), 0, -1}, {}});
      r = static_cast<int64_t>(p.size()) - 1;
    }
    const auto expected = run_expression("reference", p, inputs);
    for_each_isa([&] {
      for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
        const auto got = run_expression("cpu", p, inputs, threads);
        for (size_t k = 0; k < got.size(); ++k)
          for (size_t i = 0; i < static_cast<size_t>(got[k].size()); ++i)
            ASSERT_EQ(got[k].as<float>()[i], expected[k].as<float>()[i]) << "result " << k << ", element " << i;
      }
    });
  }
}

// A result may lie where an input was: x - y, then the larger of it and x.
TEST(PointwiseProgram, WorksInPlace) {
  PointwiseParams p;
  p.add({PointwiseOp::Sub, {0, 1, -1}, {}});
  p.add({PointwiseOp::Max, {2, 0, -1}, {}});
  p.results = {1};
  p.dtypes = {static_cast<int64_t>(DType::Float32)};
  for (const int64_t count : {1, 127, 128, 1000, 9000}) {
    const Tensor x = noise({count}, 1), y = noise({count}, 2);
    for_each_isa([&] {
      Tensor both = Tensor::of<float>({count}, x.as<float>());
      const std::vector<TensorView> in{both.view(), y.view()}, out{both.view()};
      const std::vector<const Value*> boxed(2, nullptr);
      KernelRun services(nullptr);
      const Status status =
          call_kernel(*find_family("cpu/Pointwise"), Params::of(p), in, boxed, out, services, isa_of_tests());
      ASSERT_TRUE(status.ok()) << status.to_string();
      for (size_t i = 0; i < static_cast<size_t>(count); ++i)
        ASSERT_EQ(both.as<float>()[i], std::max(x.as<float>()[i] - y.as<float>()[i], x.as<float>()[i]));
    });
  }
}

// Several results may each lie where some input was.
TEST(PointwiseProgram, ReadsAllInputsBeforeItStores) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const int64_t count = 1 + static_cast<int64_t>(dice.below(700));
    const size_t size = 1 + dice.below(3) + dice.below(3);
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < size; ++i) inputs.push_back(whole_numbers(DType::Float32, {count}, dice));
    const PointwiseParams p = random_expression(dice, size, 1 + dice.below(9), 1 + dice.below(size));
    const auto expected = run_expression("reference", p, inputs);
    for_each_isa([&] {
      std::vector<Tensor> own;
      std::vector<TensorView> in;
      for (const Tensor& t : inputs) own.push_back(Tensor::of<float>({count}, t.as<float>()));
      for (const Tensor& t : own) in.push_back(t.view());
      // The last input first, so that results lie where other operands were.
      std::vector<TensorView> out;
      for (size_t k = 0; k < p.results.size(); ++k) out.push_back(own[size - 1 - k].view());
      const std::vector<const Value*> boxed(size, nullptr);
      KernelRun services(nullptr);
      const Status status =
          call_kernel(*find_family("cpu/Pointwise"), Params::of(p), in, boxed, out, services, isa_of_tests());
      ASSERT_TRUE(status.ok()) << status.to_string();
      for (size_t k = 0; k < p.results.size(); ++k)
        for (size_t i = 0; i < static_cast<size_t>(count); ++i)
          ASSERT_EQ(out[k].as<float>()[i], expected[k].as<float>()[i]) << "result " << k << ", element " << i;
    });
  }
}

// Results too large for the caches take another way to memory.
TEST(PointwiseProgram, StoresLargeResults) {
  PointwiseParams p;
  p.add({PointwiseOp::Sub, {0, 1, -1}, {}});
  p.add({PointwiseOp::Neg, {2, -1, -1}, {}});
  p.results = {0, 1};
  p.dtypes.assign(2, static_cast<int64_t>(DType::Float32));
  const int64_t rows = 3, row = (1 << 22) / rows + 100;
  for (const int64_t columns : {row, row / 16 * 16}) {
    const Tensor x = noise({rows, columns}, 1), y = noise({columns}, 2);
    std::vector<float> differences(static_cast<size_t>(rows * columns)), negated(differences.size());
    const float *a = x.as<float>().data(), *b = y.as<float>().data();
    float *difference = differences.data(), *opposite = negated.data();
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j, ++difference, ++opposite) {
        *difference = a[i * columns + j] - b[j];
        *opposite = -*difference;
      }
    const Tensor expected[] = {Tensor::of<float>({rows, columns}, differences),
                               Tensor::of<float>({rows, columns}, negated)};
    for_each_isa([&] {
      const auto got = run_expression("cpu", p, {x, y});
      for (size_t k = 0; k < 2; ++k) EXPECT_TRUE(same_bits(got[k], expected[k]));
    });
  }
}

}  // namespace
}  // namespace tenon::test
