#include "ops/attention.h"

#include <algorithm>

#include "base/exact_math.h"
#include "providers/reference/attention.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/softmax_row.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"
#include "tensor/value.h"

namespace tenon {

namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

// What is added to the scores of one query: the mask, the causal frontier, the window and the padding.
class Bias {
 public:
  static Result<Bias> of(KernelContext& c, const AttentionExtents& e) {
    Bias b(c.params<AttentionParams>(), e);
    if (c.has(3) && c.in(3).dtype == DType::Bool) {
      b.hides_with_score_ = b.p_.hidden_score.has_value();
      TN_ASSIGN_OR_RETURN(b.mask_, Doubles::filled(c.in(3).size(), kMasked, c.budget()));
      const auto allowed = c.in(3).as<bool>();
      for (size_t i = 0; i < allowed.size(); ++i)
        if (allowed[i]) b.mask_[static_cast<int64_t>(i)] = 0.0;
    } else {
      TN_ASSIGN_OR_RETURN(b.mask_, read_doubles(c, 3));
    }
    if (c.has(3)) {
      b.keys_in_mask_ = keys_in_mask(c.params<AttentionParams>(), c.in(3), e);
      b.strides_ = broadcast_strides(c.in(3).dims, std::vector{e.batch, e.q_heads, e.q_length, b.keys_in_mask_});
    }
    if (!c.has(6)) return b;
    b.valid_keys_ = c.in(6).as<int64_t>();
    TN_RETURN_IF_ERROR(check_valid_keys(b.valid_keys_, e.total));
    return b;
  }

  // False when no key may be attended.
  bool fill(int64_t batch, int64_t head, int64_t query, std::span<double> row) const {
    bool any = false;
    for (int64_t key = 0; key < static_cast<int64_t>(row.size()); ++key) {
      double& value = row[static_cast<size_t>(key)];
      value = visible(batch, query, key) ? mask_value(batch, head, query, key) : kMasked;
      any = any || !(value == kMasked);
    }
    return any;
  }

  // Whether this key has the score of hidden ones.
  bool replaces(int64_t batch, int64_t head, int64_t query, int64_t key) const {
    return hides_with_score_ && visible(batch, query, key) && mask_value(batch, head, query, key) == kMasked;
  }

 private:
  Bias(const AttentionParams& p, const AttentionExtents& e) : p_(p), e_(e) {}

  double mask_value(int64_t batch, int64_t head, int64_t query, int64_t key) const {
    if (!mask_.present()) return 0.0;
    if (key >= keys_in_mask_) return kMasked;
    return mask_[batch * strides_[0] + head * strides_[1] + query * strides_[2] + key * strides_[3]];
  }

  bool visible(int64_t batch, int64_t query, int64_t key) const {
    const bool cached_outside = !valid_keys_.empty();
    const int64_t valid = cached_outside ? valid_keys_[static_cast<size_t>(batch)] : e_.total;
    const int64_t position = query + (cached_outside ? valid - e_.q_length : e_.past);
    if (key >= valid || (p_.is_causal && key > position)) return false;
    if (p_.left_window_size >= 0 && position - key > p_.left_window_size) return false;
    return p_.right_window_size < 0 || key - position <= p_.right_window_size;
  }

  const AttentionParams& p_;
  const AttentionExtents& e_;
  Doubles mask_;
  bool hides_with_score_ = false;
  int64_t keys_in_mask_ = 0;
  std::vector<int64_t> strides_;
  std::span<const int64_t> valid_keys_;
};

// Past and new keys (or values) as [batch, heads, past + new, size].
Result<Doubles> join_cache(KernelContext& c, size_t past_input, size_t input, const AttentionExtents& e, int64_t size) {
  TN_ASSIGN_OR_RETURN(Doubles past, read_doubles(c, past_input));
  TN_ASSIGN_OR_RETURN(Doubles now, read_doubles(c, input));
  TN_ASSIGN_OR_RETURN(Doubles joined, Doubles::filled({e.batch, e.kv_heads, e.total, size}, 0.0, c.budget()));
  if (joined.size() == 0) return joined;
  const int64_t length = e.total - e.past;
  for (int64_t plane = 0; plane < e.batch * e.kv_heads; ++plane) {
    WorkMeter().spend(e.total * size);
    double* to = joined.data() + plane * e.total * size;
    if (e.past > 0) std::copy_n(past.data() + plane * e.past * size, e.past * size, to);
    for (int64_t t = 0; t < length; ++t)
      std::copy_n(now.data() + e.kv_row(plane / e.kv_heads, plane % e.kv_heads, t) * size, size,
                  to + (e.past + t) * size);
  }
  return joined;
}

constexpr int64_t kUnitsPerScore = 16;  // of the time that masks, roundings and exponentials take

class Attention {
 public:
  explicit Attention(KernelContext& c) : c_(c), p_(c.params<AttentionParams>()), type_(c.in(0).dtype) {}

  Status run() {
    TN_ASSIGN_OR_RETURN(e_, AttentionExtents::of(c_.inputs(), p_));
    TN_ASSIGN_OR_RETURN(Bias bias, Bias::of(c_, e_));
    TN_ASSIGN_OR_RETURN(q_, read_doubles(c_, 0));
    TN_ASSIGN_OR_RETURN(k_, join_cache(c_, 4, 1, e_, e_.head));
    TN_ASSIGN_OR_RETURN(v_, join_cache(c_, 5, 2, e_, e_.value_head));
    if (c_.wants(1)) k_.store(c_.out(1));
    if (c_.wants(2)) v_.store(c_.out(2));
    scale_ = round_to(
        type_, std::sqrt(p_.scale ? static_cast<double>(*p_.scale) : 1.0 / std::sqrt(static_cast<double>(e_.head))));
    for_each_index(static_cast<int64_t>(k_.size()), [&](int64_t i) { k_[i] = round_to(type_, k_[i] * scale_); });
    TN_ASSIGN_OR_RETURN(y_, Doubles::filled(c_.out(0).size(), 0.0, c_.budget()));
    TN_ASSIGN_OR_RETURN(exposed_, Doubles::filled(c_.wants(3) ? c_.out(3).size() : 0, 0.0, c_.budget()));
    if (y_.size() == 0 && exposed_.size() == 0) return {};
    for (int64_t b = 0; b < e_.batch; ++b) {
      for (int64_t h = 0; h < e_.q_heads; ++h) {
        for (int64_t i = 0; i < e_.q_length; ++i) attend(bias, b, h, i);
      }
    }
    y_.store(c_.out(0));
    if (c_.wants(3)) exposed_.store(c_.out(3));
    return {};
  }

 private:
  // One query against all keys; every stage is rounded to the type the definition computes it in.
  void attend(const Bias& bias, int64_t b, int64_t h, int64_t i) {
    const int64_t kv_plane = b * e_.kv_heads + h / (e_.q_heads / e_.kv_heads);
    const int64_t row = e_.q_row(b, h, i);
    Scratch<double> scores(static_cast<size_t>(e_.total)), added(scores.size());
    const Scratch<double> query = scaled_query(row);
    for (int64_t j = 0; j < e_.total; ++j) {
      meter_.spend(e_.head + kUnitsPerScore);
      double sum = 0.0;
      const double* key = k_.data() + (kv_plane * e_.total + j) * e_.head;
      for (int64_t d = 0; d < e_.head; ++d) sum += query[static_cast<size_t>(d)] * key[d];
      scores[static_cast<size_t>(j)] = round_to(type_, sum);
    }
    expose(0, b, h, i, scores);
    if (p_.softcap > 0) {
      const double cap = static_cast<double>(p_.softcap);
      for (double& s : scores) s = round_to(type_, exact::tanh(round_to(type_, s / cap)) * cap);
    }
    expose(1, b, h, i, scores);
    const bool any = bias.fill(b, h, i, added);
    for (size_t j = 0; j < scores.size(); ++j) {
      const bool replaced = bias.replaces(b, h, i, static_cast<int64_t>(j));
      scores[j] = round_to(type_, replaced ? double{*p_.hidden_score} : scores[j] + added[j]);
    }
    expose(2, b, h, i, scores);
    const bool is_undefined = p_.hidden_score && std::ranges::all_of(scores, [](double s) { return s == kMasked; });
    softmax_row(scores, p_.softmax_precision.value_or(type_));
    const bool counts = any || p_.hidden_score;
    for (double& s : scores) s = is_undefined ? std::nan("") : counts ? round_to(type_, s) : 0.0;
    expose(3, b, h, i, scores);
    for (int64_t d = 0; d < e_.value_head; ++d) {
      meter_.spend(e_.total);
      double sum = 0.0;
      for (int64_t j = 0; j < e_.total; ++j)
        sum += scores[static_cast<size_t>(j)] * v_[(kv_plane * e_.total + j) * e_.value_head + d];
      y_[row * e_.value_head + d] = sum;
    }
  }

  Scratch<double> scaled_query(int64_t row) const {
    Scratch<double> query(static_cast<size_t>(e_.head));
    for (int64_t d = 0; d < e_.head; ++d)
      query[static_cast<size_t>(d)] = round_to(type_, q_[row * e_.head + d] * scale_);
    return query;
  }

  void expose(int64_t mode, int64_t b, int64_t h, int64_t i, const Scratch<double>& scores) {
    if (!c_.wants(3) || mode != p_.qk_matmul_output_mode) return;
    std::ranges::copy(scores, exposed_.data() + ((b * e_.q_heads + h) * e_.q_length + i) * e_.total);
  }

  KernelContext& c_;
  const AttentionParams& p_;
  DType type_;
  AttentionExtents e_;
  double scale_ = 1.0;
  WorkMeter meter_;
  Doubles q_, k_, v_, y_, exposed_;
};

}  // namespace

int64_t keys_in_mask(const AttentionParams& params, const TensorView& mask, const AttentionExtents& e) {
  const int64_t keys = mask.dims.back();
  return params.hidden_score && keys == 1 ? e.total : keys;
}

Status check_valid_keys(std::span<const int64_t> valid_keys, int64_t keys) {
  for (size_t i = 0; i < valid_keys.size(); ++i)
    if (valid_keys[i] < 0 || valid_keys[i] > keys)
      return invalid_argument("nonpad_kv_seqlen[{}] is {}, but there are {} keys", i, valid_keys[i], keys);
  return {};
}

Result<AttentionExtents> AttentionExtents::of(std::span<const TensorView> inputs, const AttentionParams& p) {
  auto shape = [&](size_t i) {
    const bool present = i < inputs.size() && inputs[i].dtype != DType::Undefined;
    return present ? std::optional(to_shape(inputs[i].dims)) : std::nullopt;
  };
  const auto q = shape(0), k = shape(1), v = shape(2), past_key = shape(4), past_value = shape(5);
  TN_ASSIGN_OR_RETURN(
      auto s, attention_sizes(p, *q, *k, *v, past_key ? &*past_key : nullptr, past_value ? &*past_value : nullptr));
  return AttentionExtents{
      s.batch.value(),       s.q_heads.value(), s.kv_heads.value(),   s.q_length.value(), s.total_length().value(),
      s.past_length.value(), s.head.value(),    s.value_head.value(), s.packed,           s.kv_packed};
}

template <>
KernelFunction reference_kernel<OpId::Attention>() {
  return [](KernelContext& c) -> Status { return Attention(c).run(); };
}

}  // namespace tenon
