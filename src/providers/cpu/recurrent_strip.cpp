#include "providers/cpu/recurrent_strip.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "providers/cpu/panel_product.h"
#include "providers/cpu/recurrent_states.h"

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
  Strip(KernelContext* team, const RecurrentPlan& plan, const RecurrentTensors& tensors, const RecurrentStrip& strip,
        float* memory)
      : team_(team), plan_(plan), t_(tensors), states_(plan, tensors, strip, memory), direction_(strip.direction),
        first_(strip.first), count_(strip.count), panels_(plan.panels()), padded_(plan.padded()),
        row_(plan.gates * padded_), block_(memory), block_steps_(plan.block_floats / (count_ * row_)) {}

  void run() {
    const bool is_backwards = direction_ == 1 || plan_.layer.common.direction == "reverse";
    states_.begin();
    int64_t longest = 0;
    for (int64_t n = 0; n < count_; ++n) longest = std::max(longest, states_.length(n));
    for (int64_t done = 0; done < longest; done += block_steps_) {
      const int64_t steps = std::min(block_steps_, longest - done);
      const int64_t time = is_backwards ? longest - done - steps : done;
      multiply_inputs(time, steps);
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t at = is_backwards ? steps - 1 - i : i;
        poll_cancelled();
        run_step(time + at, block_ + at * count_ * row_);
      }
    }
    states_.end();
  }

 private:
  // W x + bias of every gate, for all sequences in some steps.
  void multiply_inputs(int64_t time, int64_t steps) {
    const int64_t panels = plan_.gates * panels_, blocks = block_count(panels);
    const bool is_shared = team_ && steps * count_ * row_ * t_.inputs >= kSharedInputs;
    share(blocks, is_shared, [&](int64_t block) {
      const int64_t panel = panels * block / blocks, panel_end = panels * (block + 1) / blocks;
      for (int64_t i = 0; i < steps * count_; ++i)
        std::copy(states_.bias() + panel * kPanelWidth, states_.bias() + panel_end * kPanelWidth,
                  block_ + i * row_ + panel * kPanelWidth);
      const int64_t step_stride = (plan_.is_batch_first() ? 1 : t_.batch) * t_.inputs;
      const int64_t row_stride = (plan_.is_batch_first() ? t_.steps : 1) * t_.inputs;
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
    const bool second = plan_.multiplies_reset(), linear = plan_.resets_product();
    const float* before = states_.before();
    float* reset = states_.reset();
    const CellTable& cells = *plan_.cells[direction_];
    const CellFunction function = plan_.layer.cell == RecurrentCell::RNN    ? cells.rnn
                                  : plan_.layer.cell == RecurrentCell::LSTM ? cells.lstm
                                  : linear                                  ? cells.gru_linear
                                                                            : cells.gru_reset;
    share_step(second ? hidden_gate : plan_.gates, [&](int64_t panel, int64_t end) {
      add_states({before, 0, second || linear ? hidden_gate : plan_.gates, gates, row_}, panel, end);
      if (linear) {
        for (int64_t n = 0; n < count_; ++n)
          std::copy(states_.product_bias() + panel * kPanelWidth, states_.product_bias() + end * kPanelWidth,
                    reset + n * padded_ + panel * kPanelWidth);
        add_states({before, hidden_gate, 1, reset, padded_}, panel, end);
      }
      run_cells(function, time, gates, panel, end, !second);
    });
    if (second)
      share_step(1, [&](int64_t panel, int64_t end) {
        add_states({reset, hidden_gate, 1, gates + hidden_gate * padded_, row_}, panel, end);
        run_cells(cells.gru_update, time, gates, panel, end, true);
      });
    states_.next_step();
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
      const float* before = states_.before() + at;
      float* after = states_.after() + at;
      if (time >= states_.length(n)) {
        std::copy_n(before, units, after);
        continue;
      }
      function(plan_.functions[direction_], {.gates = gates + n * row_ + unit,
                                             .gate_stride = padded_,
                                             .before = before,
                                             .after = after,
                                             .memory = states_.memory() + at,
                                             .peepholes = states_.peepholes() ? states_.peepholes() + unit : nullptr,
                                             .reset = states_.reset() + at,
                                             .units = units});
      if (last && t_.y) std::memcpy(states_.output(time, n) + unit, after, bytes);
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
    const int64_t blocks = is_shared ? block_count(panels_) : 1;
    share(blocks, is_shared, [&](int64_t block) { body(panels_ * block / blocks, panels_ * (block + 1) / blocks); });
  }

  // Pieces of a product that threads share.
  static int64_t block_count(int64_t panels) { return ceil_div(panels, kPanelBlock); }

  KernelContext* team_;
  const RecurrentPlan& plan_;
  const RecurrentTensors& t_;
  RecurrentStates states_;
  int64_t direction_, first_, count_, panels_, padded_;
  int64_t row_;   // floats of all gates of a sequence
  float* block_;  // gates of some steps
  int64_t block_steps_;
};

}  // namespace

void run_strip(KernelContext* team, const RecurrentPlan& plan, const RecurrentTensors& tensors,
               const RecurrentStrip& strip, float* memory) {
  Strip(team, plan, tensors, strip, memory).run();
}

}  // namespace tenon
