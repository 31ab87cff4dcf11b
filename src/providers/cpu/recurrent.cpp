#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/recurrent_strip.h"
#include "providers/cpu/rows.h"
#include "providers/sequence_lengths.h"

namespace tenon {

namespace {

// The gates of so many steps of a strip stay in a second-level cache.
constexpr int64_t kBlockFloats = 1 << 16;
// Multiplications of a layer from which on threads share it: waking them takes longer than fewer of them.
constexpr double kSharedLayer = 1 << 19;
// Fewer rows of a product would read its weights too often.
constexpr int64_t kLeastBlockRows = 32;

CellActivation cell_activation(const RecurrentActivation& a) {
  return {a.kind, static_cast<float>(a.alpha), static_cast<float>(a.beta)};
}

CellFunctions cell_functions(const RecurrentLayer& p, std::span<const RecurrentActivation> activations) {
  CellFunctions functions;
  functions.limit = std::max(0.0f, p.common.clip.value_or(0.0f));
  functions.input_forget = p.input_forget;
  if (p.cell == RecurrentCell::RNN) {
    functions.candidate = cell_activation(activations[0]);
    return functions;
  }
  functions.gate = cell_activation(activations[0]);
  functions.candidate = cell_activation(activations[1]);
  if (p.cell == RecurrentCell::LSTM) functions.result = cell_activation(activations[2]);
  return functions;
}

int64_t strip_count(int64_t batch) { return ceil_div(batch, kStripSequences); }

// Of one strip.
int64_t block_floats(const RecurrentPlan& plan, int64_t steps, int64_t sequences) {
  const int64_t row = plan.gates * plan.padded();
  const int64_t rows = std::max({sequences, kLeastBlockRows, kBlockFloats / row});
  return std::min(steps, rows / sequences) * sequences * row;
}

Result<KernelState> bind_recurrent(const BindRequest& request) {
  auto plan = std::make_shared<RecurrentPlan>();
  plan->layer = recurrent_layer(request.params);
  const RecurrentParams& common = plan->layer.common;
  if (common.weights != RecurrentWeights::Panels) return error(Code::Unsupported, "its weights are not packed");
  plan->tiles = &tile_table(request.isa);
  plan->gates = gate_count(plan->layer.cell);
  plan->hidden = *common.hidden_size;
  TN_ASSIGN_OR_RETURN(plan->directions, direction_count(common));
  const std::vector<std::string> defaults = default_activations(plan->layer.cell);
  TN_ASSIGN_OR_RETURN(const auto activations, recurrent_activations(common, defaults));
  for (size_t d = 0; d < static_cast<size_t>(plan->directions); ++d) {
    plan->functions[d] =
        cell_functions(plan->layer, std::span(activations).subspan(d * defaults.size(), defaults.size()));
    plan->cells[d] = &cell_table(request.isa, plan->functions[d]);
  }
  const Dims x = request.inputs[0].dims;
  const int64_t steps = x[common.layout == 0 ? 0 : 1], batch = x[common.layout == 0 ? 1 : 0];
  const int64_t sequences = std::clamp<int64_t>(batch, 1, kStripSequences);
  plan->block_floats = block_floats(*plan, std::max<int64_t>(1, steps), sequences);
  const int64_t bytes = plan->strip_floats(sequences) * int64_t{sizeof(float)};
  // Threads that share a strip work in the memory of the one that runs it.
  const int64_t strips = plan->directions * strip_count(batch);
  return KernelState{std::move(plan), bytes, strips};
}

RecurrentTensors tensors_of(const KernelContext& c, bool batch_first) {
  const auto in = [&](size_t i) { return c.has(i) ? c.in(i).as<float>().data() : nullptr; };
  const auto out = [&](size_t i) { return c.wants(i) ? c.out(i).as<float>().data() : nullptr; };
  const Dims x = c.in(0).dims;
  return {.steps = x[batch_first ? 1 : 0],
          .batch = x[batch_first ? 0 : 1],
          .inputs = x[2],
          .x = in(0),
          .w = in(1),
          .r = in(2),
          .bias = in(3),
          .initial_h = in(5),
          .initial_c = in(6),
          .peepholes = in(7),
          .lengths = c.has(4) ? c.in(4).as<int32_t>().data() : nullptr,
          .y = out(0),
          .last_h = out(1),
          .last_c = out(2)};
}

Status run_recurrent(KernelContext& c) {
  const auto& plan = c.state<RecurrentPlan>();
  const RecurrentTensors tensors = tensors_of(c, plan.is_batch_first());
  TN_RETURN_IF_ERROR(check_sequence_lengths(c, 4, tensors.steps));
  const int64_t strips = strip_count(tensors.batch), chunks = plan.directions * strips;
  const double work = static_cast<double>(plan.directions * tensors.batch * tensors.steps) *
                      static_cast<double>(plan.gates * plan.padded() * (tensors.inputs + plan.hidden));
  const bool is_shared = work >= kSharedLayer && c.services().threads() > 1;
  const auto run = [&](int64_t chunk) {
    const int64_t strip = chunk % strips;
    const int64_t first = tensors.batch * strip / strips, end = tensors.batch * (strip + 1) / strips;
    run_strip(is_shared && chunks == 1 ? &c : nullptr, plan, tensors, {chunk / strips, first, end - first},
              c.scratch<float>());
  };
  if (is_shared) {
    c.parallel_for(chunks, run);
  } else {
    for (int64_t i = 0; i < chunks; ++i) run(i);
  }
  return {};
}

}  // namespace

std::span<const Variant> recurrent_variants(OpId op) {
  static const auto make = [](OpId of) {
    return with_reference(of, {{"strips", run_recurrent, bind_recurrent, true}});
  };
  static const auto rnn = make(OpId::RNN), gru = make(OpId::GRU), lstm = make(OpId::LSTM);
  return op == OpId::RNN ? rnn : op == OpId::GRU ? gru : lstm;
}

}  // namespace tenon
