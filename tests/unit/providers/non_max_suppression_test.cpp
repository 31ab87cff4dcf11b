#include "ops/non_max_suppression.h"

#include "unit/providers/same_kernels.h"

namespace tenon::test {
namespace {

// Gives kernels outputs of the size they ask for.
class AllocatingRun final : public PlainServices {
 public:
  explicit AllocatingRun(ThreadPool* pool) : pool_(pool) {}
  Result<TensorView> allocate_output(size_t, std::vector<int64_t> dims) override {
    TN_ASSIGN_OR_RETURN(output, Tensor::allocate(DType::Int64, std::move(dims), budget()));
    return output.view();
  }
  void parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body) override {
    if (pool_) return pool_->parallel_for(chunks, body);
    KernelServices::parallel_for(chunks, body);
  }
  Tensor output;

 private:
  ThreadPool* pool_;
};

std::vector<int64_t> selected(const std::string& provider, const NonMaxSuppressionParams& p,
                              const std::vector<Tensor>& inputs, ThreadPool* pool = nullptr) {
  AllocatingRun services(pool);
  std::vector<TensorView> in;
  for (const Tensor& t : inputs) in.push_back(t.defined() ? t.view() : TensorView{});
  const std::vector<const Value*> boxed(in.size(), nullptr);
  const TensorView out[] = {{DType::Int64, {}, nullptr}};
  const Status status =
      call_kernel(*find_family(provider + "/NonMaxSuppression"), Params::of(p), in, boxed, out, services);
  EXPECT_TRUE(status.ok()) << status.to_string();
  if (!services.output.defined()) return {-1};
  return {services.output.as<int64_t>().begin(), services.output.as<int64_t>().end()};
}

// Boxes of many sizes, some of them empty or turned around, and scores many of which are equal.
void check(int64_t batches, int64_t classes, int64_t count, int64_t most, float overlap, const Tensor& least_score) {
  ThreadPool pool(1);
  const Tensor boxes = noise({batches, count, 4}, 1);
  Tensor scores = noise({batches, classes, count}, 2);
  for (float& s : scores.as_mutable<float>()) s = std::round(40 * s) / 40;
  scores.as_mutable<float>()[0] = std::nanf("");
  for (const bool is_center : {false, true}) {
    const std::vector<Tensor> in{boxes, scores, Tensor::scalar(most),
                                 Tensor::of<float>({1}, std::vector<float>{overlap}), least_score};
    const NonMaxSuppressionParams p{.center_point_box = is_center};
    const auto expected = selected("reference", p, in);
    EXPECT_EQ(selected("cpu", p, in), expected);
    EXPECT_EQ(selected("cpu", p, in, &pool), expected);
  }
}

TEST(NonMaxSuppression, ChoosesTheSameBoxes) {
  const Tensor least = Tensor::of<float>({1}, std::vector<float>{0.2f});
  for (const float overlap : {0.0f, 0.3f, 0.5f, 1.0f})
    for (const int64_t most : {0, 1, 7, 1000}) {
      check(2, 3, 100, most, overlap, least);
      check(1, 2, 60, most, overlap, {});
    }
  check(1, 1, 1, 5, 0.5f, {});
}

TEST(NonMaxSuppression, ChoosesNothingFromNothing) {
  check(1, 2, 30, 10, 0.5f, Tensor::of<float>({1}, std::vector<float>{2}));
}

}  // namespace
}  // namespace tenon::test
