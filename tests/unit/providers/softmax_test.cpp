#include "ops/softmax.h"

#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

// Few elements, many lines: every thread has working memory of its own.
void check_softmax(OpId op, const std::vector<int64_t>& dims, int64_t axis) {
  SCOPED_TRACE(testing::Message() << op_def(op).name << " of " << testing::PrintToString(dims) << ", axis " << axis);
  const Tensor x = noise(dims, 1);
  const std::string name(op_def(op).name);
  const Params params = Params::of(SoftmaxParams{axis});
  const Tensor expected = run_kernel("reference/" + name, op, params, {x});
  ThreadPool pool(3);
  for_each_isa([&] {
    const Tensor alone = run_kernel("cpu/" + name, op, params, {x});
    const Tensor together = run_kernel("cpu/" + name, op, params, {x}, &pool);
    for (size_t i = 0; i < static_cast<size_t>(x.size()); ++i) {
      EXPECT_NEAR(alone.as<float>()[i], expected.as<float>()[i], 2e-6);
      EXPECT_EQ(alone.as<float>()[i], together.as<float>()[i]);
    }
  });
}

TEST(Softmax, TakesEveryAxis) {
  for (const OpId op : {OpId::Softmax, OpId::LogSoftmax})
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{3, 4, 5}, {20, 3, 70}, {2, 700, 3}, {1, 5000}, {7}})
      for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis) check_softmax(op, dims, axis);
}

}  // namespace
}  // namespace tenon::test
