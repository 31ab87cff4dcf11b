#include "providers/cpu/recurrent_strip.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "providers/cpu/panel_product.h"

namespace tenon {

namespace {

// Multiplications from which on threads share a product: others come to help within some microseconds, or some tenths
// of one while they are awake, as they are between steps.
constexpr int64_t kSharedInputs = 1 << 18, kSharedStep = 3 << 16;

// Of a step: a millisecond of work in layers of thousands of units.
constexpr int64_t kPanelsBetweenPolls = 64;

// Which gates a product makes, from which vectors, and the sums it adds to.
struct StepProduct {
  const float* from = nullptr;  // rows of padded()
  int64_t first_gate = 0, gates = 0;
  float* sums = nullptr;    // of the first gate; gates are padded() apart
  int64_t sums_stride = 0;  // from sequence to sequence
};

class Strip {
 public:
  Strip(KernelContext* team, const RecurrentPlan& plan, const RecurrentTensors& tensors, int64_t direction,
        int64_t first, int64_t count, float* memory)
      : team_(team), plan_(plan), t_(tensors), direction_(direction), first_(first), count_(count),
        panels_(plan.panels()), padded_(plan.padded()), row_(plan.gates * padded_),
        backwards_(direction == 1 || plan.layer.common.direction == "reverse"),
        batch_first_(plan.layer.common.layout == 1) {
    const auto take = [&](int64_t floats) {
      float* const part = memory;
      memory += floats;
      return part;
    };
    bias_ = take(row_ + padded_);
    peepholes_ = take(3 * padded_);
    for (float*& state : states_) state = take(count * padded_);
    memory_ = take(count * padded_);
    reset_ = take(count * padded_);
    block_ = take(plan.block_floats);
    block_steps_ = std::max<int64_t>(1, plan.block_floats / (count * row_));
  }

  void run() {
    begin();
    int64_t longest = 0;
    for (int64_t n = 0; n < count_; ++n) longest = std::max(longest, t_.length(first_ + n));
    for (int64_t done = 0; done < longest; done += block_steps_) {
      const int64_t steps = std::min(block_steps_, longest - done);
      const int64_t time = backwards_ ? longest - done - steps : done;
      multiply_inputs(time, steps);
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t at = backwards_ ? steps - 1 - i : i;
        poll_cancelled();
        run_step(time + at, block_ + at * count_ * row_);
      }
    }
    end();
  }

 private:
  // What the weights without a product add to every step, and the first states; all in whole panels.
  void begin() {
    const int64_t hidden = plan_.hidden, gates = plan_.gates, linear = plan_.adds_reset() ? gates - 1 : gates;
    std::fill_n(bias_, row_ + padded_, 0.0f);
    const float* of_x = t_.bias ? t_.bias + direction_ * 2 * gates * hidden : nullptr;
    for (int64_t g = 0; of_x && g < gates; ++g)
      for (int64_t u = 0; u < hidden; ++u) {
        const float a = of_x[g * hidden + u], b = of_x[(gates + g) * hidden + u];
        bias_[g * padded_ + u] = g < linear ? a + b : a;
        if (g >= linear) bias_[row_ + u] = b;
      }
    for (int64_t g = 0; t_.peepholes && g < 3; ++g)
      copy_units(t_.peepholes + (direction_ * 3 + g) * hidden, peepholes_ + g * padded_);
    for (int64_t n = 0; n < count_; ++n) {
      copy_units(t_.initial_h ? t_.initial_h + state_offset(n) : nullptr, states_[0] + n * padded_);
      copy_units(t_.initial_c ? t_.initial_c + state_offset(n) : nullptr, memory_ + n * padded_);
      copy_units(nullptr, reset_ + n * padded_);
      for (int64_t t = t_.length(first_ + n); t_.y && t < t_.steps; ++t) std::fill_n(output(t, n), hidden, 0.0f);
    }
  }

  // An empty sequence ends with zeros, whatever its initial state.
  void end() const {
    const auto bytes = static_cast<size_t>(plan_.hidden) * sizeof(float);
    for (int64_t n = 0; n < count_; ++n) {
      const bool empty = t_.length(first_ + n) == 0;
      const auto put = [&](const float* from, float* to) {
        if (!to) return;
        if (empty)
          std::memset(to + state_offset(n), 0, bytes);
        else
          std::memcpy(to + state_offset(n), from + n * padded_, bytes);
      };
      put(states_[current_], t_.last_h);
      put(memory_, t_.last_c);
    }
  }

  // W x + bias of every gate, for all sequences in some steps.
  void multiply_inputs(int64_t time, int64_t steps) {
    const int64_t blocks = RecurrentPlan::blocks_of(plan_.gates * panels_);
    const bool is_shared = team_ && steps * count_ * row_ * t_.inputs >= kSharedInputs;
    share(blocks, is_shared, [&](int64_t block) {
      const int64_t panel = plan_.gates * panels_ * block / blocks;
      const int64_t panel_end = plan_.gates * panels_ * (block + 1) / blocks;
      for (int64_t i = 0; i < steps * count_; ++i)
        std::copy(bias_ + panel * kPanelWidth, bias_ + panel_end * kPanelWidth,
                  block_ + i * row_ + panel * kPanelWidth);
      const int64_t step_stride = (batch_first_ ? 1 : t_.batch) * t_.inputs;
      const int64_t row_stride = (batch_first_ ? t_.steps : 1) * t_.inputs;
      const float* x = t_.x + time * step_stride + first_ * row_stride;
      // Rows of one product lie at equal distances.
      if (count_ == 1 || step_stride == count_ * row_stride) {
        add_inputs(x, count_ == 1 ? step_stride : row_stride, steps * count_, panel, panel_end, block_, row_);
      } else if (steps > count_) {
        for (int64_t n = 0; n < count_; ++n)
          add_inputs(x + n * row_stride, step_stride, steps, panel, panel_end, block_ + n * row_, count_ * row_);
      } else {
        for (int64_t t = 0; t < steps; ++t)
          add_inputs(x + t * step_stride, row_stride, count_, panel, panel_end, block_ + t * count_ * row_, row_);
      }
    });
  }

  void add_inputs(const float* x, int64_t x_stride, int64_t rows, int64_t panel, int64_t panel_end, float* sums,
                  int64_t sums_stride) const {
    const float* w = t_.w + (direction_ * plan_.gates * panels_ + panel) * t_.inputs * kPanelWidth;
    const int64_t blocks = ceil_div(t_.inputs, kDepthBlock);
    for (int64_t block = 0; block < blocks; ++block) {
      if (block % kBlocksBetweenPolls == kBlocksBetweenPolls - 1) poll_cancelled();
      const int64_t begin = t_.inputs * block / blocks, end = t_.inputs * (block + 1) / blocks;
      multiply_tiles(*plan_.tiles, TileOrder::RowMajor,
                     {.a = x + begin,
                      .a_stride = x_stride,
                      .b = w + begin * kPanelWidth,
                      .b_panel_stride = t_.inputs * kPanelWidth,
                      .b_depth_stride = kPanelWidth,
                      .depth = end - begin,
                      .c = sums + panel * kPanelWidth,
                      .c_stride = sums_stride,
                      .accumulate = true},
                     rows, panel_end - panel);
    }
  }

  // One step; gates hold W x + bias.
  void run_step(int64_t time, float* gates) {
    const int64_t hidden_gate = plan_.gates - 1;
    const bool second = plan_.multiplies_reset(), linear = plan_.adds_reset();
    const float* before = states_[current_];
    const CellTable& cells = *plan_.cells[direction_];
    const CellFunction function = plan_.layer.cell == RecurrentCell::RNN    ? cells.rnn
                                  : plan_.layer.cell == RecurrentCell::LSTM ? cells.lstm
                                  : linear                                  ? cells.gru_linear
                                                                            : cells.gru_reset;
    share_step(second ? hidden_gate : plan_.gates, [&](int64_t panel, int64_t end) {
      add_states({before, 0, second || linear ? hidden_gate : plan_.gates, gates, row_}, panel, end);
      if (linear) {
        for (int64_t n = 0; n < count_; ++n)
          std::copy(bias_ + row_ + panel * kPanelWidth, bias_ + row_ + end * kPanelWidth,
                    reset_ + n * padded_ + panel * kPanelWidth);
        add_states({before, hidden_gate, 1, reset_, padded_}, panel, end);
      }
      run_cells(function, time, gates, panel, end, !second);
    });
    if (second)
      share_step(1, [&](int64_t panel, int64_t end) {
        add_states({reset_, hidden_gate, 1, gates + hidden_gate * padded_, row_}, panel, end);
        run_cells(cells.gru_update, time, gates, panel, end, true);
      });
    current_ = 1 - current_;
  }

  // Adds R v to the sums of some panels of each gate, a piece of panels at a time.
  void add_states(const StepProduct& product, int64_t panel, int64_t panel_end) const {
    const int64_t panel_floats = plan_.hidden * kPanelWidth;
    const bool whole = panel == 0 && panel_end == panels_;
    TileOperands operands{.a = product.from,
                          .a_stride = padded_,
                          .b_panel_stride = panel_floats,
                          .b_depth_stride = kPanelWidth,
                          .depth = plan_.hidden,
                          .c_stride = product.sums_stride,
                          .accumulate = true};
    // Whole gates lie one behind the other.
    const int64_t parts = whole ? 1 : product.gates;
    const int64_t end = whole ? product.gates * panels_ : panel_end;
    for (int64_t g = 0; g < parts; ++g)
      for (int64_t first = panel; first < end; first += kPanelsBetweenPolls) {
        if (first > panel) poll_cancelled();
        const int64_t matrix = direction_ * plan_.gates + product.first_gate + g;
        operands.b = t_.r + (matrix * panels_ + first) * panel_floats;
        operands.c = product.sums + g * padded_ + first * kPanelWidth;
        multiply_tiles(*plan_.tiles, TileOrder::RowMajor, operands, count_, std::min(kPanelsBetweenPolls, end - first));
      }
  }

  // The cells of some panels; sequences that are over keep their state.
  void run_cells(CellFunction function, int64_t time, float* gates, int64_t panel, int64_t panel_end, bool last) const {
    const int64_t unit = panel * kPanelWidth, units = (panel_end - panel) * kPanelWidth;
    const size_t bytes = static_cast<size_t>(std::min(units, plan_.hidden - unit)) * sizeof(float);
    for (int64_t n = 0; n < count_; ++n) {
      const int64_t at = n * padded_ + unit;
      const float* before = states_[current_] + at;
      float* after = states_[1 - current_] + at;
      if (time >= t_.length(first_ + n)) {
        std::copy_n(before, units, after);
        continue;
      }
      function(plan_.functions[direction_], {.gates = gates + n * row_ + unit,
                                             .gate_stride = padded_,
                                             .before = before,
                                             .after = after,
                                             .memory = memory_ + at,
                                             .peepholes = t_.peepholes ? peepholes_ + unit : nullptr,
                                             .reset = reset_ + at,
                                             .units = units});
      if (last && t_.y) std::memcpy(output(time, n) + unit, after, bytes);
    }
  }

  // Calls body for each block.
  template <class F>
  void share(int64_t blocks, bool is_shared, const F& body) const {
    if (is_shared) return team_->parallel_for(blocks, body);
    for (int64_t i = 0; i < blocks; ++i) body(i);
  }

  // Calls body for pieces of the panels, to make so many gates of each.
  template <class F>
  void share_step(int64_t gates, const F& body) const {
    const bool is_shared = team_ && count_ * gates * padded_ * plan_.hidden >= kSharedStep;
    const int64_t blocks = is_shared ? RecurrentPlan::blocks_of(panels_) : 1;
    share(blocks, is_shared, [&](int64_t block) { body(panels_ * block / blocks, panels_ * (block + 1) / blocks); });
  }

  // Null: zeros.
  void copy_units(const float* from, float* to) const {
    std::fill_n(to, padded_, 0.0f);
    if (from) std::copy_n(from, plan_.hidden, to);
  }
  int64_t state_offset(int64_t n) const {
    const int64_t sequence = first_ + n;
    return (batch_first_ ? sequence * plan_.directions + direction_ : direction_ * t_.batch + sequence) * plan_.hidden;
  }
  float* output(int64_t time, int64_t n) const {
    const int64_t sequence = first_ + n;
    return t_.y + (batch_first_ ? (sequence * t_.steps + time) * plan_.directions + direction_
                                : (time * plan_.directions + direction_) * t_.batch + sequence) *
                      plan_.hidden;
  }

  KernelContext* team_;
  const RecurrentPlan& plan_;
  const RecurrentTensors& t_;
  const int64_t direction_, first_, count_, panels_, padded_;
  const int64_t row_;  // floats of all gates of a sequence
  const bool backwards_, batch_first_;
  float *bias_ = nullptr, *peepholes_ = nullptr, *memory_ = nullptr, *reset_ = nullptr, *block_ = nullptr;
  float* states_[2] = {};  // of the step before and of the next one
  int current_ = 0;
  int64_t block_steps_ = 0;
};

}  // namespace

int64_t RecurrentPlan::panels() const { return ceil_div(hidden, kPanelWidth); }
int64_t RecurrentPlan::padded() const { return panels() * kPanelWidth; }
bool RecurrentPlan::multiplies_reset() const { return layer.cell == RecurrentCell::GRU && !layer.linear_before_reset; }
bool RecurrentPlan::adds_reset() const { return layer.cell == RecurrentCell::GRU && layer.linear_before_reset; }
int64_t RecurrentPlan::strip_floats(int64_t sequences) const {
  return (gates + 4 + 4 * sequences) * padded() + block_floats;
}
int64_t RecurrentPlan::blocks_of(int64_t panels) { return ceil_div(panels, kPanelBlock); }

void run_strip(KernelContext* team, const RecurrentPlan& plan, const RecurrentTensors& tensors, int64_t direction,
               int64_t first, int64_t count, float* memory) {
  Strip(team, plan, tensors, direction, first, count, memory).run();
}

}  // namespace tenon
