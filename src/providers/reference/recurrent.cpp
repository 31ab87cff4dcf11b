#include "ops/recurrent.h"

#include <algorithm>

#include "providers/reference/doubles.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"
#include "providers/sequence_lengths.h"

namespace tenon {

namespace {

// What a cell works with during one sequence in one direction.
struct Cell {
  int64_t hidden = 0, inputs = 0, gates = 0;
  const double *w = nullptr, *r = nullptr, *bias = nullptr, *peephole = nullptr;  // of this direction
  std::span<const RecurrentActivation> activations;
  double limit = 0.0;  // clip, or infinity
  bool linear_before_reset = false, input_forget = false;
  Scratch<double> h, c;

  // W x + its bias, for every gate and unit.
  Scratch<double> from_input(const double* x) const { return project(w, x, inputs, 0); }
  // R h + its bias.
  Scratch<double> from_state(const Scratch<double>& state) const {
    return project(r, state.data(), hidden, gates * hidden);
  }
  double activate(size_t which, double x) const { return activations[which](std::clamp(x, -limit, limit)); }

 private:
  Scratch<double> project(const double* matrix, const double* x, int64_t columns, int64_t bias_offset) const {
    Scratch<double> result(static_cast<size_t>(gates * hidden));
    WorkMeter meter;
    for (int64_t row = 0; row < gates * hidden; ++row) {
      meter.spend(columns);
      double sum = bias ? bias[bias_offset + row] : 0.0;
      for (int64_t i = 0; i < columns; ++i) sum += matrix[row * columns + i] * x[i];
      result[static_cast<size_t>(row)] = sum;
    }
    return result;
  }
};

void rnn_step(Cell& cell, const double* x) {
  const auto input = cell.from_input(x), state = cell.from_state(cell.h);
  for (size_t u = 0; u < cell.h.size(); ++u) cell.h[u] = cell.activate(0, input[u] + state[u]);
}

// Gates in the order update, reset, hidden.
void gru_step(Cell& cell, const double* x) {
  const size_t n = cell.h.size();
  const auto input = cell.from_input(x), state = cell.from_state(cell.h);
  Scratch<double> update(n), reset(n), reset_h(n);
  for (size_t u = 0; u < n; ++u) {
    update[u] = cell.activate(0, input[u] + state[u]);
    reset[u] = cell.activate(0, input[n + u] + state[n + u]);
    reset_h[u] = reset[u] * cell.h[u];
  }
  const auto reset_state = cell.linear_before_reset ? state : cell.from_state(reset_h);
  for (size_t u = 0; u < n; ++u) {
    const double recurrent = cell.linear_before_reset ? reset[u] * state[2 * n + u] : reset_state[2 * n + u];
    const double candidate = cell.activate(1, input[2 * n + u] + recurrent);
    cell.h[u] = (1.0 - update[u]) * candidate + update[u] * cell.h[u];
  }
}

// Gates in the order input, output, forget, cell; peepholes in the order input, output, forget.
void lstm_step(Cell& cell, const double* x) {
  const size_t n = cell.h.size();
  const auto input = cell.from_input(x), state = cell.from_state(cell.h);
  for (size_t u = 0; u < n; ++u) {
    auto gate = [&](size_t g) { return input[g * n + u] + state[g * n + u]; };
    auto peep = [&](size_t g, double memory) { return cell.peephole ? cell.peephole[g * n + u] * memory : 0.0; };
    const double in = cell.activate(0, gate(0) + peep(0, cell.c[u]));
    const double forget = cell.input_forget ? 1.0 - in : cell.activate(0, gate(2) + peep(2, cell.c[u]));
    const double memory = forget * cell.c[u] + in * cell.activate(1, gate(3));
    const double out = cell.activate(0, gate(1) + peep(1, memory));
    cell.c[u] = memory;
    cell.h[u] = out * cell.activations[2](memory);
  }
}

using StepFunction = void (*)(Cell&, const double*);

StepFunction step_of(RecurrentCell cell) {
  if (cell == RecurrentCell::RNN) return rnn_step;
  return cell == RecurrentCell::GRU ? gru_step : lstm_step;
}

// Rows of W or R [directions, gates * hidden, depth], from panels [directions * gates, panels, depth, 16].
Result<Doubles> unpack_rows(const TensorView& packed, int64_t hidden, const std::shared_ptr<MemoryBudget>& budget) {
  const int64_t matrices = packed.dims[0], panels = packed.dims[1], depth = packed.dims[2];
  TN_ASSIGN_OR_RETURN(Doubles rows, Doubles::filled({matrices, hidden, depth}, 0.0, budget));
  WorkMeter meter;
  for (int64_t row = 0; row < matrices * hidden; ++row) {
    meter.spend(depth);
    const int64_t matrix = row / hidden, unit = row % hidden;
    const float* from = packed.as<float>().data() + (matrix * panels + unit / kPanelWidth) * depth * kPanelWidth;
    for (int64_t k = 0; k < depth; ++k) rows[row * depth + k] = from[k * kPanelWidth + unit % kPanelWidth];
  }
  return rows;
}

// A recurrent layer: every sequence of the batch in every direction.
class Layer {
 public:
  Layer(KernelContext& c, RecurrentLayer layer)
      : c_(c), layer_(std::move(layer)), p_(layer_.common), batch_first_(p_.layout == 1),
        steps_(c.in(0).dims[batch_first_ ? 1 : 0]), batch_(c.in(0).dims[batch_first_ ? 0 : 1]),
        gates_(gate_count(layer_.cell)) {}

  Status run() {
    TN_ASSIGN_OR_RETURN(directions_, direction_count(p_));
    const std::vector<std::string> defaults = default_activations(layer_.cell);
    const size_t per_direction = defaults.size();
    TN_ASSIGN_OR_RETURN(auto activations, recurrent_activations(p_, defaults));
    TN_RETURN_IF_ERROR(read());
    const StepFunction step = step_of(layer_.cell);
    if (last_h_.size() == 0) return {};
    TN_RETURN_IF_ERROR(check_sequence_lengths(c_, 4, steps_));
    for (int64_t d = 0; d < directions_; ++d) {
      for (int64_t n = 0; n < batch_; ++n) {
        Cell cell = make_cell(d, n);
        cell.activations = std::span(activations).subspan(static_cast<size_t>(d) * per_direction, per_direction);
        TN_RETURN_IF_ERROR(run_sequence(cell, d, n, step));
      }
    }
    if (c_.wants(0)) y_.store(c_.out(0));
    if (c_.wants(1)) last_h_.store(c_.out(1));
    if (c_.wants(2)) last_c_.store(c_.out(2));
    return {};
  }

 private:
  Status read() {
    const bool packed = p_.weights == RecurrentWeights::Panels;
    hidden_ = packed ? *p_.hidden_size : c_.in(2).dims[2];
    Doubles* inputs[] = {&x_, &w_, &r_, &b_, nullptr, &initial_h_, &initial_c_, &p_weights_};
    for (size_t i = 0; i < std::size(inputs); ++i) {
      if (!inputs[i]) continue;
      const bool in_panels = packed && (i == 1 || i == 2);
      TN_ASSIGN_OR_RETURN(*inputs[i], in_panels ? unpack_rows(c_.in(i), hidden_, c_.budget()) : read_doubles(c_, i));
    }
    const std::vector<int64_t> states{directions_, batch_, hidden_};
    TN_ASSIGN_OR_RETURN(y_, Doubles::filled(c_.wants(0) ? c_.out(0).size() : 0, 0.0, c_.budget()));
    TN_ASSIGN_OR_RETURN(last_h_, Doubles::filled(states, 0.0, c_.budget()));
    TN_ASSIGN_OR_RETURN(last_c_, Doubles::filled(states, 0.0, c_.budget()));
    return {};
  }

  int64_t state_offset(int64_t d, int64_t n) const {
    return (batch_first_ ? n * directions_ + d : d * batch_ + n) * hidden_;
  }

  Cell make_cell(int64_t d, int64_t n) const {
    Cell cell;
    cell.hidden = hidden_;
    cell.inputs = c_.in(0).dims[2];
    cell.gates = gates_;
    cell.linear_before_reset = layer_.linear_before_reset;
    cell.input_forget = layer_.input_forget;
    cell.w = w_.data() + d * gates_ * hidden_ * cell.inputs;
    cell.r = r_.data() + d * gates_ * hidden_ * hidden_;
    if (b_.present()) cell.bias = b_.data() + d * 2 * gates_ * hidden_;
    if (p_weights_.present()) cell.peephole = p_weights_.data() + d * 3 * hidden_;
    // Zero means no limit, as for exporters that write every attribute.
    const double clip = p_.clip.value_or(0.0f);
    cell.limit = clip > 0 ? clip : std::numeric_limits<double>::infinity();
    auto initial = [&](const Doubles& given) {
      Scratch<double> state(static_cast<size_t>(hidden_), 0.0);
      if (given.present()) std::copy_n(given.data() + state_offset(d, n), hidden_, state.begin());
      return state;
    };
    cell.h = initial(initial_h_);
    cell.c = initial(initial_c_);
    return cell;
  }

  Status run_sequence(Cell& cell, int64_t d, int64_t n, StepFunction step) {
    const int64_t length = c_.has(4) ? c_.in(4).as<int32_t>()[static_cast<size_t>(n)] : steps_;
    const bool backwards = p_.direction == "reverse" || d == 1;
    for (int64_t i = 0; i < length; ++i) {
      TN_RETURN_IF_ERROR(c_.services().check_cancelled());
      const int64_t t = backwards ? length - 1 - i : i;
      step(cell, x_.data() + (batch_first_ ? n * steps_ + t : t * batch_ + n) * cell.inputs);
      if (!c_.wants(0)) continue;
      const int64_t at = batch_first_ ? (n * steps_ + t) * directions_ + d : (t * directions_ + d) * batch_ + n;
      std::ranges::copy(cell.h, y_.data() + at * hidden_);
    }
    if (length == 0) return {};  // an empty sequence ends with zeros, whatever its initial state
    std::ranges::copy(cell.h, last_h_.data() + state_offset(d, n));
    std::ranges::copy(cell.c, last_c_.data() + state_offset(d, n));
    return {};
  }

  KernelContext& c_;
  const RecurrentLayer layer_;
  const RecurrentParams& p_;
  bool batch_first_;
  int64_t steps_, batch_, gates_, directions_ = 0, hidden_ = 0;
  Doubles x_, w_, r_, b_, initial_h_, initial_c_, p_weights_, y_, last_h_, last_c_;
};

template <class P>
Status run_layer(KernelContext& c) {
  return Layer(c, recurrent_layer(Params::of(c.params<P>()))).run();
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::RNN>() {
  return run_layer<RNNParams>;
}
template <>
KernelFunction reference_kernel<OpId::GRU>() {
  return run_layer<GRUParams>;
}
template <>
KernelFunction reference_kernel<OpId::LSTM>() {
  return run_layer<LSTMParams>;
}

}  // namespace tenon
