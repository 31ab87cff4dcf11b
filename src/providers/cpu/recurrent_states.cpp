#include "providers/cpu/recurrent_states.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"

namespace tenon {

int64_t RecurrentPlan::panels() const { return ceil_div(hidden, kPanelWidth); }
int64_t RecurrentPlan::padded() const { return panels() * kPanelWidth; }
int64_t RecurrentPlan::strip_floats(int64_t sequences) const {
  return RecurrentStates::floats(*this, sequences) + block_floats;
}

int64_t RecurrentStates::floats(const RecurrentPlan& plan, int64_t sequences) {
  return (plan.gates + 4 + 4 * sequences) * plan.padded();
}

RecurrentStates::RecurrentStates(const RecurrentPlan& plan, const RecurrentTensors& tensors,
                                 const RecurrentStrip& strip, float*& memory)
    : plan_(plan), tensors_(tensors), strip_(strip), padded_(plan.padded()) {
  const auto take = [&](int64_t rows) {
    float* const part = memory;
    memory += rows * padded_;
    return part;
  };
  bias_ = take(plan.gates + 1);
  peepholes_ = take(3);
  for (float*& state : states_) state = take(strip.count);
  memory_ = take(strip.count);
  reset_ = take(strip.count);
}

void RecurrentStates::begin() {
  read_biases();
  const RecurrentTensors& t = tensors_;
  for (int64_t g = 0; t.peepholes && g < 3; ++g)
    copy_units(t.peepholes + (strip_.direction * 3 + g) * plan_.hidden, peepholes_ + g * padded_);
  for (int64_t n = 0; n < strip_.count; ++n) {
    copy_units(t.initial_h ? t.initial_h + state_offset(n) : nullptr, states_[0] + n * padded_);
    copy_units(t.initial_c ? t.initial_c + state_offset(n) : nullptr, memory_ + n * padded_);
    copy_units(nullptr, reset_ + n * padded_);
    for (int64_t time = length(n); t.y && time < t.steps; ++time) std::fill_n(output(time, n), plan_.hidden, 0.0f);
  }
}

// Both biases of a gate are added to every step alike, but for a product that is scaled with its own.
void RecurrentStates::read_biases() {
  const int64_t hidden = plan_.hidden, gates = plan_.gates, together = plan_.resets_product() ? gates - 1 : gates;
  std::fill_n(bias_, (gates + 1) * padded_, 0.0f);
  if (!tensors_.bias) return;
  const float* of_x = tensors_.bias + strip_.direction * 2 * gates * hidden;
  for (int64_t g = 0; g < gates; ++g)
    for (int64_t u = 0; u < hidden; ++u) {
      const float a = of_x[g * hidden + u], b = of_x[(gates + g) * hidden + u];
      bias_[g * padded_ + u] = g < together ? a + b : a;
      if (g >= together) bias_[gates * padded_ + u] = b;
    }
}

void RecurrentStates::end() const {
  const auto bytes = static_cast<size_t>(plan_.hidden) * sizeof(float);
  const auto put = [&](int64_t n, const float* from, float* to) {
    if (!to) return;
    if (length(n) == 0)
      std::memset(to + state_offset(n), 0, bytes);
    else
      std::memcpy(to + state_offset(n), from + n * padded_, bytes);
  };
  for (int64_t n = 0; n < strip_.count; ++n) {
    put(n, before(), tensors_.last_h);
    put(n, memory_, tensors_.last_c);
  }
}

// Null: zeros.
void RecurrentStates::copy_units(const float* from, float* to) const {
  std::fill_n(to, padded_, 0.0f);
  if (from) std::copy_n(from, plan_.hidden, to);
}

int64_t RecurrentStates::state_offset(int64_t n) const {
  const int64_t sequence = strip_.first + n, direction = strip_.direction;
  return (plan_.is_batch_first() ? sequence * plan_.directions + direction : direction * tensors_.batch + sequence) *
         plan_.hidden;
}

float* RecurrentStates::output(int64_t time, int64_t n) const {
  if (!tensors_.y) return nullptr;
  const int64_t sequence = strip_.first + n, direction = strip_.direction;
  return tensors_.y + (plan_.is_batch_first() ? (sequence * tensors_.steps + time) * plan_.directions + direction
                                              : (time * plan_.directions + direction) * tensors_.batch + sequence) *
                          plan_.hidden;
}

}  // namespace tenon
