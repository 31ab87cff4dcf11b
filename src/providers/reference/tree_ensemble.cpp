#include "ops/tree_ensemble.h"

#include <algorithm>

#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/ml_scores.h"
#include "providers/reference/tree_walk.h"

namespace tenon {

namespace {

// What the trees say about one target or class; nothing when no leaf speaks of it.
struct Score {
  double value = 0;
  bool present = false;

  void add(double weight, int64_t aggregate) {
    if (!present)
      value = weight;
    else if (aggregate == tree::kMin)
      value = std::min(value, weight);
    else if (aggregate == tree::kMax)
      value = std::max(value, weight);
    else
      value += weight;
    present = true;
  }
};

Scratch<Score> scores_of_row(const TreeWalk& walk, int64_t row, size_t targets, int64_t aggregate) {
  Scratch<Score> scores(targets);
  walk.for_each_weight(row, [&](size_t target, double weight) { scores[target].add(weight, aggregate); });
  return scores;
}

Scratch<double> base_values(KernelContext& c) {
  return c.has(tree::kBaseValues) ? as_doubles(c.in(tree::kBaseValues)) : Scratch<double>();
}

Status regress_by_trees(KernelContext& c) {
  const auto& p = c.params<TreeEnsembleParams>();
  TN_ASSIGN_OR_RETURN(const TreeWalk walk, TreeWalk::make(c, p.n_targets));
  const Scratch<double> base = base_values(c);
  const size_t targets = static_cast<size_t>(p.n_targets);
  Scratch<double> values(targets);
  size_t at = 0;
  return dispatch<float, double, Float16>(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t row = 0; row < walk.row_count(); ++row) {
      const Scratch<Score> scores = scores_of_row(walk, row, targets, p.aggregate_function);
      for (size_t t = 0; t < targets; ++t) {
        values[t] = scores[t].value;
        if (p.aggregate_function == tree::kAverage) values[t] /= static_cast<double>(walk.tree_count());
        if (!base.empty()) values[t] += base[t];
      }
      transform_scores(static_cast<PostTransform>(p.post_transform), values);
      for (double value : values) c.out(0).as<T>()[at++] = narrow<T>(value);
    }
    return Status();
  });
}

// How the scores of a row become a label and the scores that users see.
class Decision {
 public:
  Decision(KernelContext& c, const TreeWalk& walk, PostTransform transform)
      : labels_(c.params<TreeEnsembleClassifierParams>().labels), transform_(transform), base_(base_values(c)),
        out_(c, labels_) {
    const auto targets = walk.leaf_targets();
    const auto weights = walk.weights();
    all_positive_ = std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; });
    const bool one_class = std::all_of(targets.begin(), targets.end(), [&](int64_t t) { return t == targets[0]; });
    // Two classes and weights for one of them: its score decides between both.
    is_binary_ = labels_.size() == 2 && base_.size() < 2 && one_class && !targets.empty();
    scored_class_ = targets.empty() ? 0 : static_cast<size_t>(targets[0]);
  }

  void decide(int64_t row, Scratch<Score> scores) {
    if (labels_.size() == 1)
      decide_one(row, scores[0]);
    else if (is_binary_)
      decide_binary(row, scores[scored_class_].value);
    else
      decide_many(row, std::move(scores));
  }

 private:
  // The only label says what is asked, so the answer is yes (1) or no (0).
  void decide_one(int64_t row, const Score& score) {
    double value = score.value + (base_.empty() ? 0 : base_[0]);
    if (labels_.strings.empty())
      out_.int_label(row, value > 0);
    else
      out_.label(row, 0);
    transform_scores(transform_, {&value, 1});
    out_.scores(row, {&value, 1});
  }

  // Weights that are all positive are taken for probabilities, others for margins.
  void decide_binary(int64_t row, double score) {
    if (!base_.empty()) score += base_[0];
    out_.label(row, score > (all_positive_ ? 0.5 : 0));
    if (scored_class_ == 0) {
      const auto other = all_positive_ ? OtherScore::Complement : OtherScore::Negative;
      return out_.scores(row, binary_scores(transform_, score, other));
    }
    std::array<double, 2> both = {0, score};
    transform_scores(transform_, both);
    out_.scores(row, both);
  }

  // The highest score among the classes that have one.
  void decide_many(int64_t row, Scratch<Score> scores) {
    for (size_t k = 0; k < base_.size(); ++k) scores[k].add(base_[k], tree::kSum);
    size_t best = 0;
    for (size_t k = 1; k < scores.size(); ++k)
      if (scores[k].present && (!scores[best].present || scores[k].value > scores[best].value)) best = k;
    out_.label(row, best);
    Scratch<double> values;
    for (const Score& s : scores) values.push_back(s.value);
    transform_scores(transform_, values);
    out_.scores(row, values);
  }

  const ClassLabels& labels_;
  PostTransform transform_;
  Scratch<double> base_;
  ClassOutputs out_;
  bool all_positive_ = true, is_binary_ = false;
  size_t scored_class_ = 0;
};

Status classify_by_trees(KernelContext& c) {
  const auto& p = c.params<TreeEnsembleClassifierParams>();
  TN_ASSIGN_OR_RETURN(const PostTransform transform, parse_post_transform(p.post_transform));
  TN_ASSIGN_OR_RETURN(const TreeWalk walk, TreeWalk::make(c, static_cast<int64_t>(p.labels.size())));
  Decision decision(c, walk, transform);
  for (int64_t row = 0; row < walk.row_count(); ++row)
    decision.decide(row, scores_of_row(walk, row, p.labels.size(), tree::kSum));
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::TreeEnsemble>() {
  return regress_by_trees;
}

template <>
KernelFunction reference_kernel<OpId::TreeEnsembleClassifier>() {
  return classify_by_trees;
}

}  // namespace tenon
