// Equations as matrix products of pairs.
#include "ops/einsum.h"

#include <algorithm>
#include <array>

#include "base/checked_math.h"
#include "providers/cpu/dense_product.h"
#include "providers/cpu/einsum_plan.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/rows.h"
#include "providers/cpu/strided_copy.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

constexpr int64_t kEinsumRows = 96;  // of a chunk
constexpr int64_t kEinsumPanels = 4;
constexpr int64_t kEinsumSteps = 1 << 14;  // products of a chunk that are taken one by one, at least
constexpr int64_t kLeastPanelColumns = 8;  // panels with fewer are mostly zeros
constexpr int64_t kLeastPanelSteps = 64;   // products of matrices that are worth a panel

struct EinsumState {
  EinsumPlan plan;
  DenseFunctions<float> floats;
  DenseFunctions<double> doubles;

  template <class T>
  const DenseFunctions<T>& functions() const {
    if constexpr (std::is_same_v<T, float>)
      return floats;
    else
      return doubles;
  }
};

Result<KernelState> bind_einsum(const BindRequest& request) {
  const DType dtype = request.outputs[0].dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64)
    return error(Code::Unsupported, "its elements are neither float32 nor double");
  std::vector<size_t> ranks;
  for (const TensorView& input : request.inputs) {
    if (input.size() == 0) return error(Code::Unsupported, "an operand is empty");
    ranks.push_back(input.dims.size());
  }
  TN_ASSIGN_OR_RETURN(const EinsumLabels labels, parse_einsum(request.params.get<EinsumParams>().equation, ranks));
  auto plan = plan_einsum(labels, request.inputs);
  if (!plan) return error(Code::Unsupported, "its equation has too many letters");
  auto state = std::make_shared<EinsumState>(
      EinsumState{std::move(*plan), dense_functions<float>(request.isa), dense_functions<double>(request.isa)});
  return KernelState{std::move(state), kDensePanel<float> * static_cast<int64_t>(sizeof(float))};
}

// Offsets of the three tensors of a stage, from one product of its batch to the next.
class BatchWalk {
 public:
  BatchWalk(const EinsumStage& stage, int64_t position) : stage_(stage) {
    for (size_t i = stage.batch.size(); i-- > 0; position /= stage.batch[i].extent) {
      index_[i] = position % stage.batch[i].extent;
      move(stage.batch[i], index_[i]);
    }
  }
  int64_t left() const { return left_; }
  int64_t right() const { return right_; }
  int64_t result() const { return result_; }
  void next() {
    for (size_t i = stage_.batch.size(); i-- > 0;) {
      move(stage_.batch[i], 1);
      if (++index_[i] < stage_.batch[i].extent) return;
      move(stage_.batch[i], -index_[i]);
      index_[i] = 0;
    }
  }

 private:
  void move(const EinsumStage::Batch& loop, int64_t steps) {
    left_ += steps * loop.left;
    right_ += steps * loop.right;
    result_ += steps * loop.result;
  }
  const EinsumStage& stage_;
  std::array<int64_t, kMostCopyAxes> index_{};
  int64_t left_ = 0, right_ = 0, result_ = 0;
};

// Several sums at a time, which do not wait for each other; `step` is 1 or any other.
template <class T>
T sum_of_products(const T* a, int64_t a_step, const T* b, int64_t b_step, int64_t count) {
  constexpr int64_t kSums = 8;
  T sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums)
    for (int64_t j = 0; j < kSums; ++j) sums[j] += a[(i + j) * a_step] * b[(i + j) * b_step];
  for (int64_t j = 0; i < count; ++i, ++j) sums[j] += a[i * a_step] * b[i * b_step];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

template <class T>
class EinsumRun {
 public:
  explicit EinsumRun(KernelContext& c) : c_(c), state_(c.state<EinsumState>()) {}

  void run() {
    T* y = static_cast<T*>(c_.out(0).data);
    for (const EinsumStage& stage : state_.plan.stages) {
      Scratch<T> left_copy, right_copy, result;
      const T *left = prepared(stage.left, left_copy), *right = prepared(stage.right, right_copy);
      result.resize(static_cast<size_t>(stage.elements));
      multiply(stage, left, right, stage.elements > 0 ? result.data() : y);
      before_ = std::move(result);
    }
    if (state_.plan.last.copy.copies()) copy(state_.plan.last, y);
  }

 private:
  const T* source(const EinsumOperand& operand) const {
    if (operand.source == EinsumOperand::kBefore) return before_.data();
    return static_cast<const T*>(c_.in(operand.source).data);
  }

  const T* prepared(const EinsumOperand& operand, Scratch<T>& copied) {
    if (!operand.copy.copies()) return source(operand);
    copied.resize(static_cast<size_t>(operand.copy.elements / operand.copy.summed));
    copy(operand, copied.data());
    return copied.data();
  }

  void copy(const EinsumOperand& operand, T* to) {
    const EinsumCopy& how = operand.copy;
    Scratch<T> terms;
    if (how.summed > 1) terms.resize(static_cast<size_t>(how.elements));
    T* target = how.summed > 1 ? terms.data() : to;
    StridedCopy strided;
    strided.from = reinterpret_cast<const std::byte*>(source(operand));
    strided.to = reinterpret_cast<std::byte*>(target);
    strided.element_bytes = sizeof(T);
    int64_t step = how.elements;
    for (const EinsumAxis& axis : how.axes) strided.add(axis.extent, axis.stride, step /= axis.extent);
    run_copies(c_, std::span(&strided, 1));
    if (how.summed == 1) return;
    const int64_t per_chunk = std::max<int64_t>(1, kEinsumSteps / how.summed), sums = how.elements / how.summed;
    const T one = 1;
    c_.parallel_for(ceil_div(sums, per_chunk), [&](int64_t chunk) {
      WorkMeter meter;
      for (int64_t i = chunk * per_chunk; i < std::min(sums, (chunk + 1) * per_chunk); ++i) {
        meter.spend(how.summed);
        to[i] = sum_of_products(terms.data() + i * how.summed, 1, &one, 0, how.summed);
      }
    });
  }

  void multiply(const EinsumStage& s, const T* left, const T* right, T* result) {
    const int64_t steps = s.left_rows.extent * s.right_columns.extent * s.left_depth.extent;
    if (s.right_columns.extent < kLeastPanelColumns || steps <= kLeastPanelSteps)
      multiply_one_by_one(s, left, right, result);
    else
      multiply_panels(s, left, right, result);
  }

  void multiply_one_by_one(const EinsumStage& s, const T* left, const T* right, T* result) {
    const int64_t rows = s.left_rows.extent, columns = s.right_columns.extent, depth = s.left_depth.extent;
    const int64_t all = s.batch_count * rows, per_chunk = std::max<int64_t>(1, kEinsumSteps / (columns * depth));
    c_.parallel_for(ceil_div(all, per_chunk), [&](int64_t chunk) {
      const int64_t first = chunk * per_chunk, end = std::min(all, first + per_chunk);
      BatchWalk walk(s, first / rows);
      int64_t row = first % rows;
      WorkMeter meter;
      for (int64_t i = first; i < end; ++i) {
        meter.spend(columns * depth);
        const T* a = left + walk.left() + row * s.left_rows.stride;
        T* y = result + walk.result() + row * s.result_rows.stride;
        for (int64_t column = 0; column < columns; ++column) {
          const T* b = right + walk.right() + column * s.right_columns.stride;
          y[column * s.result_columns.stride] =
              depth == 1 ? *a * *b : sum_of_products(a, s.left_depth.stride, b, s.right_depth.stride, depth);
        }
        if (++row < rows) continue;
        row = 0;
        walk.next();
      }
    });
  }

  void multiply_panels(const EinsumStage& s, const T* left, const T* right, T* result) {
    const auto& functions = state_.functions<T>();
    const int64_t most_columns = kEinsumPanels * kDenseColumns<T>;
    const int64_t down = ceil_div(s.left_rows.extent, kEinsumRows);
    const int64_t across = ceil_div(s.right_columns.extent, most_columns);
    c_.parallel_for(s.batch_count * down * across, [&](int64_t chunk) {
      poll_cancelled();
      const BatchWalk walk(s, chunk / (down * across));
      const int64_t row = chunk / across % down * kEinsumRows, column = chunk % across * most_columns;
      functions.multiply({.a = left + walk.left() + row * s.left_rows.stride,
                          .a_row = s.left_rows.stride,
                          .a_depth = s.left_depth.stride,
                          .b = right + walk.right() + column * s.right_columns.stride,
                          .b_depth = s.right_depth.stride,
                          .b_column = s.right_columns.stride,
                          .c = result + walk.result() + row * s.result_rows.stride + column,
                          .c_row = s.result_rows.stride,
                          .rows = std::min(kEinsumRows, s.left_rows.extent - row),
                          .columns = std::min(most_columns, s.right_columns.extent - column),
                          .depth = s.left_depth.extent,
                          .packed = c_.scratch<T>()});
    });
  }

  KernelContext& c_;
  const EinsumState& state_;
  Scratch<T> before_;
};

Status run_einsum_pairs(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  if (c.out(0).dtype == DType::Float64)
    EinsumRun<double>(c).run();
  else
    EinsumRun<float>(c).run();
  return {};
}

}  // namespace

std::span<const Variant> einsum_variants() {
  static const auto variants = with_reference(OpId::Einsum, {{"pairs", run_einsum_pairs, bind_einsum}});
  return variants;
}

}  // namespace tenon
