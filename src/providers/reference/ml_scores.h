#pragma once

#include <array>

#include "ops/ml_rules.h"
#include "providers/provider.h"
#include "providers/reference/text_meter.h"
#include "providers/scratch.h"

// What the kernels of classical machine-learning ops share.
namespace tenon {

// The elements of a numeric tensor.
Scratch<double> as_doubles(const TensorView& view);

// X as rows of features: [features] is one row.
struct FeatureMatrix {
  int64_t rows, features;
  Scratch<double> values;

  explicit FeatureMatrix(const TensorView& x)
      : rows(x.rank() == 1 ? 1 : x.dims[0]), features(x.dims[x.dims.size() - 1]), values(as_doubles(x)) {}
  std::span<const double> row(int64_t r) const { return {values.data() + r * features, static_cast<size_t>(features)}; }
};

double dot(std::span<const double> a, std::span<const double> b);
double logistic(double x);

// Transforms one row of scores in place. A single score has nothing to be compared with: only PROBIT changes it.
void transform_scores(PostTransform transform, std::span<double> scores);

// How the other class of a binary classifier gets a score from the only one there is.
enum class OtherScore { Complement, Negative };
// Both scores, transformed. SOFTMAX leaves them as they are.
std::array<double, 2> binary_scores(PostTransform transform, double score, OtherScore other);

// Writes the outputs of a classifier that somebody wants: the label and the scores of a row.
class ClassOutputs {
 public:
  ClassOutputs(KernelContext& c, const ClassLabels& labels) : c_(c), labels_(labels) {}
  void label(int64_t row, size_t index);
  // A label that the model does not list.
  void int_label(int64_t row, int64_t label);
  void scores(int64_t row, std::span<const double> scores);

 private:
  KernelContext& c_;
  const ClassLabels& labels_;
  TextMeter text_;
};

}  // namespace tenon
