#include "providers/cpu/einsum_plan.h"

#include <algorithm>

#include "providers/cpu/strided_copy.h"
#include "providers/reference/indexing.h"

namespace tenon {

namespace {

using Labels = std::vector<size_t>;

// Results with fewer columns than this turn around where that brings longer rows.
constexpr int64_t kFewColumns = 16;

bool has_label(const Labels& labels, size_t label) { return std::ranges::find(labels, label) != labels.end(); }

// A tensor in an equation. Labels that are not among its own have stride 0.
struct Factor {
  Labels labels;
  std::vector<int64_t> strides;  // by label
  size_t source = EinsumOperand::kBefore;
};

class EinsumPlanner {
 public:
  EinsumPlanner(const EinsumLabels& labels, std::span<const TensorView> inputs)
      : labels_(labels), extents_(labels.label_count, 1) {
    for (size_t i = 0; i < inputs.size(); ++i)
      for (size_t axis = 0; axis < inputs[i].dims.size(); ++axis)
        if (inputs[i].dims[axis] != 1) extents_[labels.operands[i][axis]] = inputs[i].dims[axis];
    for (size_t i = 0; i < inputs.size(); ++i) factors_.push_back(factor_of(i, inputs[i].dims));
    output_ = dense(labels.output);
  }

  EinsumPlan plan() {
    EinsumPlan plan;
    Factor left = factors_[0];
    for (size_t i = 1; i < factors_.size(); ++i) {
      plan.stages.push_back(stage_of(left, factors_[i], i + 1 == factors_.size()));
      left = result_;
    }
    const bool is_done = !plan.stages.empty() && plan.stages.back().elements == 0;
    if (!is_done) {
      plan.last = {left.source, {}};
      copy_operand(left, {labels_.output, alone(left, labels_.output, {})}, plan.last.copy);
    }
    return plan;
  }

 private:
  Factor factor_of(size_t input, Dims dims) const {
    Factor factor{{}, std::vector<int64_t>(extents_.size(), 0), input};
    const AxisList own = row_major_strides(dims);
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const size_t label = labels_.operands[input][axis];
      if (!has_label(factor.labels, label)) factor.labels.push_back(label);
      if (dims[axis] != 1) factor.strides[label] += own[axis];
    }
    return factor;
  }

  // A dense tensor with an axis for each label.
  Factor dense(const Labels& labels) const {
    Factor factor{labels, std::vector<int64_t>(extents_.size(), 0), EinsumOperand::kBefore};
    int64_t stride = 1;
    for (size_t i = labels.size(); i-- > 0; stride *= extents_[labels[i]]) factor.strides[labels[i]] = stride;
    return factor;
  }

  int64_t count(const Labels& labels) const {
    int64_t n = 1;
    for (const size_t label : labels) n *= extents_[label];
    return n;
  }

  // Loops over labels as one loop, where the tensor has one.
  std::optional<EinsumAxis> merged(const Labels& labels, const Factor& factor) const {
    EinsumAxis all;
    for (size_t i = labels.size(); i-- > 0;) {
      const int64_t extent = extents_[labels[i]], stride = factor.strides[labels[i]];
      if (extent == 1) continue;
      if (all.extent == 1)
        all.stride = stride;
      else if (stride != all.stride * all.extent)
        return std::nullopt;
      all.extent *= extent;
    }
    return all;
  }

  // What only this factor has, and nobody needs.
  static Labels alone(const Factor& factor, const Labels& needed, const Labels& other) {
    Labels labels;
    for (const size_t label : factor.labels)
      if (!has_label(needed, label) && !has_label(other, label)) labels.push_back(label);
    return labels;
  }

  // A copy whose axes are those of the groups; the last group is summed up.
  void copy_operand(Factor& factor, const std::vector<Labels>& groups, EinsumCopy& copy) const {
    Labels kept;
    copy.elements = 1;
    for (const Labels& group : groups)
      for (const size_t label : group) {
        copy.axes.push_back({extents_[label], factor.strides[label]});
        copy.elements *= extents_[label];
        if (&group != &groups.back()) kept.push_back(label);
      }
    copy.summed = count(groups.back());
    factor = dense(kept);
  }

  // Labels of the output in its order, then all others.
  Labels in_output_order(const Labels& labels) const {
    Labels ordered;
    for (const size_t label : labels_.output)
      if (has_label(labels, label)) ordered.push_back(label);
    for (const size_t label : labels)
      if (!has_label(ordered, label)) ordered.push_back(label);
    return ordered;
  }

  struct Groups {
    Labels batch, rows, depth, columns;
  };

  Groups groups_of(const Factor& left, const Factor& right, const Labels& needed) const {
    Groups g;
    for (const size_t label : left.labels) {
      const bool is_shared = has_label(right.labels, label);
      if (has_label(needed, label))
        (is_shared ? g.batch : g.rows).push_back(label);
      else if (is_shared)
        g.depth.push_back(label);
    }
    for (const size_t label : right.labels)
      if (has_label(needed, label) && !has_label(left.labels, label)) g.columns.push_back(label);
    for (Labels* labels : {&g.batch, &g.rows, &g.columns}) *labels = in_output_order(*labels);
    return g;
  }

  // Whether the product can write this tensor itself.
  bool can_write(const Groups& g, const Factor& to) const {
    const auto rows = merged(g.rows, to), columns = merged(g.columns, to);
    return rows && columns && (columns->extent == 1 || columns->stride == 1);
  }

  EinsumStage stage_of(Factor left, Factor right, bool is_last) {
    Labels needed = labels_.output;
    for (size_t i = right.source + 1; i < factors_.size(); ++i)
      needed.insert(needed.end(), factors_[i].labels.begin(), factors_[i].labels.end());
    Groups g = groups_of(left, right, needed);
    const auto turn = [&] {
      std::swap(left, right);
      std::swap(g.rows, g.columns);
    };
    if (count(g.columns) < kFewColumns && count(g.rows) > count(g.columns)) turn();
    bool writes_output = is_last && can_write(g, output_);
    if (is_last && !writes_output) {
      turn();
      writes_output = can_write(g, output_);
      if (!writes_output) turn();
    }

    EinsumStage stage;
    stage.left.source = left.source;
    stage.right.source = right.source;
    const Labels left_alone = alone(left, needed, right.labels), right_alone = alone(right, needed, left.labels);
    const bool copies_left = count(left_alone) > 1 || !merged(g.rows, left);
    const bool copies_right = count(right_alone) > 1 || !merged(g.columns, right);
    const auto left_depth = merged(g.depth, left), right_depth = merged(g.depth, right);
    if (copies_left || !left_depth) copy_operand(left, {g.batch, g.rows, g.depth, left_alone}, stage.left.copy);
    if (copies_right || !right_depth) copy_operand(right, {g.batch, g.depth, g.columns, right_alone}, stage.right.copy);

    Labels dims = g.batch;
    dims.insert(dims.end(), g.rows.begin(), g.rows.end());
    dims.insert(dims.end(), g.columns.begin(), g.columns.end());
    result_ = writes_output ? output_ : dense(dims);
    stage.elements = writes_output ? 0 : count(dims);
    stage.left_rows = *merged(g.rows, left);
    stage.left_depth = *merged(g.depth, left);
    stage.right_depth = *merged(g.depth, right);
    stage.right_columns = *merged(g.columns, right);
    stage.result_rows = *merged(g.rows, result_);
    stage.result_columns = *merged(g.columns, result_);
    for (const size_t label : g.batch) add_batch(stage, label, left, right);
    return stage;
  }

  // Loops that go on in all three tensors as the one before are one.
  void add_batch(EinsumStage& stage, size_t label, const Factor& left, const Factor& right) const {
    const EinsumStage::Batch loop{extents_[label], left.strides[label], right.strides[label], result_.strides[label]};
    if (loop.extent == 1) return;
    stage.batch_count *= loop.extent;
    if (!stage.batch.empty()) {
      EinsumStage::Batch& outer = stage.batch.back();
      if (outer.left == loop.left * loop.extent && outer.right == loop.right * loop.extent &&
          outer.result == loop.result * loop.extent) {
        outer = {outer.extent * loop.extent, loop.left, loop.right, loop.result};
        return;
      }
    }
    stage.batch.push_back(loop);
  }

  const EinsumLabels& labels_;
  std::vector<int64_t> extents_;  // by label
  std::vector<Factor> factors_;
  Factor output_, result_;
};

}  // namespace

std::optional<EinsumPlan> plan_einsum(const EinsumLabels& labels, std::span<const TensorView> inputs) {
  if (labels.label_count > kMostCopyAxes) return std::nullopt;
  return EinsumPlanner(labels, inputs).plan();
}

}  // namespace tenon
