#include <algorithm>
#include <cmath>

#include "base/exact_math.h"
#include "ops/attention.h"
#include "providers/reference/doubles.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

class LinearAttention {
 public:
  explicit LinearAttention(KernelContext& c)
      : c_(c), p_(c.params<LinearAttentionParams>()), batch_(c.in(0).dims[0]), steps_(c.in(0).dims[1]),
        key_(c.in(0).dims[2] / p_.q_num_heads), value_(c.in(2).dims[2] / p_.kv_num_heads),
        key_heads_(key_ > 0 ? c.in(1).dims[2] / key_ : p_.kv_num_heads), slots_(std::max<int64_t>(1, p_.state_window)) {
  }

  Status run() {
    Doubles* inputs[] = {&q_, &k_, &v_, &past_, &decay_, &beta_};
    for (size_t i = 0; i < std::size(inputs); ++i) {
      TN_ASSIGN_OR_RETURN(*inputs[i], read_doubles(c_, i));
    }
    TN_ASSIGN_OR_RETURN(y_, Doubles::filled(c_.out(0).size(), 0.0, c_.budget()));
    TN_ASSIGN_OR_RETURN(states_, Doubles::filled({slots_, batch_, p_.kv_num_heads, key_, value_}, 0.0, c_.budget()));
    if (y_.size() == 0 && states_.size() == 0) return {};
    const size_t one = states_.size() / static_cast<size_t>(slots_);
    double* last = states_.end() - one;
    if (past_.present()) std::copy_n(past_.data() + past_.size() - one, one, last);
    for (int64_t b = 0; b < batch_; ++b) {
      for (int64_t h = 0; h < p_.kv_num_heads; ++h) {
        const int64_t size = key_ * value_;
        double* state = last + (b * p_.kv_num_heads + h) * size;
        for (int64_t t = 0; t < steps_; ++t) {
          step(h, b * steps_ + t, state);
          // The states of the last steps but the very last go to the slots before it.
          if (const int64_t back = steps_ - 1 - t; back > 0 && back < slots_)
            std::copy_n(state, size, state - back * static_cast<int64_t>(one));
        }
      }
    }
    y_.store(c_.out(0));
    if (c_.wants(1)) states_.store(c_.out(1));
    return {};
  }

 private:
  // One token of one head: decay the state, write key x value, then read it with each query of the group.
  void step(int64_t h, int64_t token, double* state) {
    const double* key = k_.data() + (token * key_heads_ + h / (p_.kv_num_heads / key_heads_)) * key_;
    const double* value = v_.data() + (token * p_.kv_num_heads + h) * value_;
    if (p_.gated()) {
      for (int64_t d = 0; d < key_; ++d) {
        meter_.spend(value_);
        const double factor = exact::exp(decay_at(token, h, d));
        for (int64_t m = 0; m < value_; ++m) state[d * value_ + m] *= factor;
      }
    }
    for (int64_t m = 0; m < value_; ++m) {
      meter_.spend(2 * key_);
      double written = value[m];
      if (p_.corrects()) {
        double held = 0.0;
        for (int64_t d = 0; d < key_; ++d) held += state[d * value_ + m] * key[d];
        written = beta_at(token, h) * (value[m] - held);
      }
      for (int64_t d = 0; d < key_; ++d) state[d * value_ + m] += key[d] * written;
    }
    const double scale = p_.scale == 0.0f ? 1.0 / std::sqrt(static_cast<double>(key_)) : static_cast<double>(p_.scale);
    const int64_t group = std::max<int64_t>(1, p_.q_num_heads / p_.kv_num_heads);
    const int64_t shared = std::max<int64_t>(1, p_.kv_num_heads / p_.q_num_heads), outputs = group * p_.kv_num_heads;
    for (int64_t g = h * group; g < (h + 1) * group; ++g) {
      const double* query = q_.data() + (token * p_.q_num_heads + g / shared) * key_;
      for (int64_t m = 0; m < value_; ++m) {
        meter_.spend(key_);
        double sum = 0.0;
        for (int64_t d = 0; d < key_; ++d) sum += query[d] * state[d * value_ + m];
        y_[(token * outputs + g) * value_ + m] = scale * sum;
      }
    }
  }

  // Per head, or per head and key feature.
  double decay_at(int64_t token, int64_t h, int64_t d) const {
    const int64_t width = c_.in(4).dims[2];
    return decay_[token * width + (width == p_.kv_num_heads ? h : h * key_ + d)];
  }
  // Per head, or one for all.
  double beta_at(int64_t token, int64_t h) const {
    const int64_t width = c_.in(5).dims[2];
    return beta_[token * width + (width == 1 ? 0 : h)];
  }

  KernelContext& c_;
  const LinearAttentionParams& p_;
  int64_t batch_, steps_, key_, value_, key_heads_, slots_;
  WorkMeter meter_;
  Doubles q_, k_, v_, past_, decay_, beta_, y_, states_;
};

}  // namespace

template <>
KernelFunction reference_kernel<OpId::LinearAttention>() {
  return [](KernelContext& c) -> Status { return LinearAttention(c).run(); };
}

}  // namespace tenon
