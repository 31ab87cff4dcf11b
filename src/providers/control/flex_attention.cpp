#include "providers/reference/attention.h"
#include "providers/reference/kernel.h"
#include "providers/reference/softmax_row.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// Scores and probabilities [batch, heads, queries, keys], which sub-graphs may change.
class FlexAttention {
 public:
  explicit FlexAttention(KernelContext& c)
      : c_(c), p_(c.params<FlexAttentionParams>()), type_(c.in(0).dtype), precision_(p_.precision(type_)) {}

  Status run() {
    TN_ASSIGN_OR_RETURN(e_, AttentionExtents::of(c_.inputs(), AttentionParams{}));
    TN_ASSIGN_OR_RETURN(Doubles scores, score());
    if (p_.has_score_mod) TN_RETURN_IF_ERROR(modify(0, scores));
    for (int64_t row = 0; scores.size() > 0 && row < rows(); ++row)
      softmax_row({scores.data() + row * e_.total, static_cast<size_t>(e_.total)}, precision_);
    if (p_.has_prob_mod) TN_RETURN_IF_ERROR(modify(p_.has_score_mod ? 1 : 0, scores));
    return average(scores);
  }

 private:
  int64_t rows() const { return e_.batch * e_.q_heads * e_.q_length; }
  int64_t kv_plane(int64_t row) const {
    const int64_t plane = row / e_.q_length, head = plane % e_.q_heads;
    return plane / e_.q_heads * e_.kv_heads + head / (e_.q_heads / e_.kv_heads);
  }

  Result<Doubles> score() {
    TN_ASSIGN_OR_RETURN(Doubles q, read_doubles(c_, 0));
    TN_ASSIGN_OR_RETURN(Doubles k, read_doubles(c_, 1));
    TN_ASSIGN_OR_RETURN(Doubles scores,
                        Doubles::filled({e_.batch, e_.q_heads, e_.q_length, e_.total}, 0.0, c_.budget()));
    if (scores.size() == 0) return scores;
    const double scale = p_.scale ? static_cast<double>(*p_.scale) : 1.0 / std::sqrt(static_cast<double>(e_.head));
    const double root = round_to(type_, std::sqrt(scale));
    for (int64_t row = 0; row < rows(); ++row) {
      for (int64_t j = 0; j < e_.total; ++j) {
        meter_.spend(e_.head + 1);
        double sum = 0.0;
        for (int64_t d = 0; d < e_.head; ++d)
          sum += round_to(type_, q[row * e_.head + d] * root) *
                 round_to(type_, k[(kv_plane(row) * e_.total + j) * e_.head + d] * root);
        scores[row * e_.total + j] = round_to(precision_, round_to(type_, sum));
      }
    }
    return scores;
  }

  // The values after a sub-graph, which must keep shape and type.
  Status modify(size_t body, Doubles& values) {
    const std::vector<int64_t> dims{e_.batch, e_.q_heads, e_.q_length, e_.total};
    TN_ASSIGN_OR_RETURN(Tensor given, Tensor::allocate(precision_, dims, c_.budget()));
    values.store(given.view());
    std::vector<Value> inputs;
    inputs.emplace_back(std::move(given));
    TN_ASSIGN_OR_RETURN(auto results, c_.services().run_body(body, std::move(inputs)));
    const Tensor* changed = results.size() == 1 ? results[0].tensor() : nullptr;
    if (!changed || changed->dtype() != precision_ || changed->dims() != dims)
      return invalid_argument("a modifier must keep the element type and shape of its input");
    // The result may be a weight, and the softmax works in place.
    TN_ASSIGN_OR_RETURN(values, Doubles::copy_of(changed->view(), c_.budget()));
    return {};
  }

  Status average(const Doubles& probabilities) {
    TN_ASSIGN_OR_RETURN(Doubles v, read_doubles(c_, 2));
    const std::vector<int64_t> dims{e_.batch, e_.q_heads, e_.q_length, e_.value_head};
    TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(dims, 0.0, c_.budget()));
    for (int64_t row = 0; y.size() > 0 && row < rows(); ++row) {
      for (int64_t d = 0; d < e_.value_head; ++d) {
        meter_.spend(e_.total);
        double sum = 0.0;
        for (int64_t j = 0; j < e_.total; ++j)
          sum += probabilities[row * e_.total + j] * v[(kv_plane(row) * e_.total + j) * e_.value_head + d];
        y[row * e_.value_head + d] = round_to(precision_, sum);
      }
    }
    TN_ASSIGN_OR_RETURN(Tensor out, Tensor::allocate(c_.in(2).dtype, dims, c_.budget()));
    y.store(out.view());
    c_.set(0, Value(std::move(out)));
    return {};
  }

  KernelContext& c_;
  const FlexAttentionParams& p_;
  DType type_, precision_;
  AttentionExtents e_;
  WorkMeter meter_;
};

}  // namespace

template <>
KernelFunction reference_kernel<OpId::FlexAttention>() {
  return [](KernelContext& c) -> Status {
    // Ops with sub-graphs are not checked again at binding.
    for (size_t i = 0; i < 3; ++i)
      if (!c.has(i) || c.boxed(i) || c.in(i).rank() != 4 || c.in(i).dtype != c.in(0).dtype ||
          !kFloats.has(c.in(i).dtype))
        return invalid_argument("Q, K and V must be float tensors of rank 4 with the same element type");
    return FlexAttention(c).run();
  };
}

}  // namespace tenon
