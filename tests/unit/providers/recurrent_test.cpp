#include <algorithm>

#include "ops/recurrent.h"
#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

using enum RecurrentCell;

struct Layer {
  RecurrentCell cell = LSTM;
  int64_t steps = 3, batch = 1, inputs = 4, hidden = 3;
  std::string direction = "forward";
  int64_t layout = 0;
  bool optional = true;  // biases, states, peepholes
  bool variant = false;  // linear_before_reset or input_forget
  std::vector<int32_t> lengths;
  std::vector<std::string> activations;
  std::vector<float> alpha, beta;
  std::optional<float> clip;

  int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  RecurrentParams common(RecurrentWeights weights) const {
    return {activations, alpha, beta, clip, direction, hidden, layout, weights};
  }
  OpId op() const { return cell == RNN ? OpId::RNN : cell == GRU ? OpId::GRU : OpId::LSTM; }
  Params params(RecurrentParams common) const {
    if (cell == RNN) return Params::of(RNNParams{std::move(common)});
    if (cell == GRU) return Params::of(GRUParams{std::move(common), variant});
    return Params::of(LSTMParams{std::move(common), variant});
  }
  Params packed() const { return params(common(RecurrentWeights::Panels)); }
};

Tensor scaled(const Tensor& t, float factor) {
  std::vector<float> values;
  for (const float x : t.as<float>()) values.push_back(x * factor);
  return Tensor::of<float>(t.dims(), values);
}

// Inputs as ONNX has them. What a step takes from the state is small, so that errors do not grow from step to step, and
// all is small where functions without bounds meet it.
std::vector<Tensor> inputs_of(const Layer& l) {
  const int64_t d = l.directions(), rows = gate_count(l.cell) * l.hidden;
  const bool first = l.layout == 0;
  const float factor = l.activations.empty() ? 1.0f : 0.1f;
  std::vector<int64_t> state{first ? d : l.batch, first ? l.batch : d, l.hidden};
  std::vector<Tensor> inputs{noise({first ? l.steps : l.batch, first ? l.batch : l.steps, l.inputs}, 1),
                             scaled(noise({d, rows, l.inputs}, 2), 2 * factor / static_cast<float>(l.inputs)),
                             scaled(noise({d, rows, l.hidden}, 3), 0.2f / static_cast<float>(l.hidden))};
  inputs.resize(l.cell == LSTM ? 8 : 6);
  if (!l.lengths.empty()) inputs[4] = Tensor::of<int32_t>({l.batch}, l.lengths);
  if (!l.optional) return inputs;
  inputs[3] = scaled(noise({d, 2 * rows}, 4), factor);
  inputs[5] = scaled(noise(state, 5), factor);
  if (l.cell != LSTM) return inputs;
  inputs[6] = scaled(noise(state, 6), factor);
  inputs[7] = scaled(noise({d, 3 * l.hidden}, 7), 0.1f);
  return inputs;
}

Tensor pack(const Tensor& w, int64_t matrices) {
  const Tensor rows = Tensor::borrow(DType::Float32, {w.dims()[0] * w.dims()[1], w.dims()[2]}, w.data(), nullptr);
  return run_kernel("cpu/PackPanels", OpId::PackPanels, Params::of(PackPanelsParams{.groups = matrices}), {rows});
}

std::vector<Tensor> run_layer(const std::string& provider, const Layer& l, const Params& params,
                              const std::vector<Tensor>& inputs, ThreadPool* pool = nullptr) {
  const std::string family = provider + "/" + std::string(op_def(l.op()).name);
  return run_kernel_outputs(family, l.op(), params, inputs, l.cell == LSTM ? 3 : 2, pool);
}

std::vector<Tensor> packed_inputs(const Layer& l, std::vector<Tensor> inputs) {
  for (const size_t i : {1, 2}) inputs[i] = pack(inputs[i], l.directions() * gate_count(l.cell));
  return inputs;
}

std::vector<Tensor> run_packed(const std::string& provider, const Layer& l, const std::vector<Tensor>& inputs,
                               ThreadPool* pool = nullptr) {
  return run_layer(provider, l, l.packed(), packed_inputs(l, inputs), pool);
}

double largest(const Tensor& t) {
  double most = 0;
  if (t.defined())
    for (const float x : t.as<float>()) most = std::max(most, std::fabs(double{x}));
  return most;
}

// A bound for the errors of float32 sums and functions, carried from step to step. What enters a function is a sum of
// `terms` numbers whose sizes add up to at most `size`; no function is steeper than 1 or larger than its argument
// plus 1.
double error_bound(const Layer& l, const std::vector<Tensor>& inputs) {
  const double unit = std::ldexp(1.0, -24), terms = static_cast<double>(l.inputs + l.hidden + 4);
  const bool bounded = l.activations.empty(), is_lstm = l.cell == LSTM;
  const double w = largest(inputs[1]) * static_cast<double>(l.inputs);
  const double r = largest(inputs[2]) * static_cast<double>(l.hidden);
  const double bias = 2 * largest(inputs[3]), peephole = is_lstm ? largest(inputs[7]) : 0;
  double state = largest(inputs[5]), memory = is_lstm ? largest(inputs[6]) : 0, of_state = 0, of_memory = 0;
  for (int64_t t = 0; t < l.steps; ++t) {
    const double size = w + r * state + bias + peephole * memory, most = bounded ? 1 : size + 1;
    const double gate = unit * (terms * size + 8 * most) + r * of_state + peephole * of_memory;
    const double candidate = gate + r * (state * gate + most * of_state);
    if (is_lstm) {
      of_memory = most * of_memory + memory * gate + most * (gate + candidate);
      memory = most * memory + most * most;
      of_memory += 4 * unit * memory;
      const double most_of_memory = bounded ? 1 : memory + 1;
      of_state = most * (of_memory + 8 * unit * most_of_memory) + most_of_memory * (gate + peephole * of_memory);
      state = most * most_of_memory;
    } else {
      of_state = (1 + most) * candidate + most * of_state + (most + state) * gate;
      state = bounded ? std::max(1.0, state) : (1 + most) * most + most * state;
    }
    of_state += 4 * unit * state;
  }
  return of_state + of_memory;
}

void check(const Layer& l) {
  SCOPED_TRACE(testing::Message() << op_def(l.op()).name << " " << l.steps << " x " << l.batch << " x " << l.inputs
                                  << " -> " << l.hidden << " " << l.direction << " layout " << l.layout << " variant "
                                  << l.variant);
  const auto inputs = inputs_of(l);
  const auto expected = run_layer("reference", l, l.params(l.common(RecurrentWeights::Rows)), inputs);
  const double bound = error_bound(l, inputs);
  // A result that is wrong differs by more.
  ASSERT_LT(bound, 0.02 * std::max(1.0, largest(expected[0])));
  const auto compare = [&](const std::vector<Tensor>& actual) {
    for (size_t o = 0; o < expected.size(); ++o)
      for (size_t i = 0; i < expected[o].as<float>().size(); ++i)
        ASSERT_NEAR(actual[o].as<float>()[i], expected[o].as<float>()[i], bound) << "output " << o << ", element " << i;
  };
  // The reference reads its panels back.
  const auto plain = run_packed("reference", l, inputs);
  for (size_t o = 0; o < expected.size(); ++o) EXPECT_TRUE(same_bits(plain[o], expected[o])) << o;
  for_each_isa([&] { compare(run_packed("cpu", l, inputs)); });
}

void check_every_cell(Layer l) {
  for (const RecurrentCell cell : {RNN, GRU, LSTM})
    for (const bool variant : {false, true}) {
      if (cell == RNN && variant) continue;
      l.cell = cell;
      l.variant = variant;
      check(l);
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(Recurrent, TakesEverySize) {
  for (const int64_t hidden : {1, 3, 15, 16, 17, 33, 130})
    for (const int64_t inputs : {1, 5, 16, 300})
      check_every_cell({.inputs = inputs, .hidden = hidden, .optional = (hidden + inputs) % 3 != 0});
}

TEST(Recurrent, TakesEveryBatchDirectionAndLayout) {
  for (const std::string direction : {"forward", "reverse", "bidirectional"})
    for (const int64_t layout : {0, 1})
      for (const int64_t batch : {0, 1, 2, 12, 13, 26})
        for (const int64_t steps : {0, 1, 4})
          check_every_cell({.steps = steps, .batch = batch, .hidden = 18, .direction = direction, .layout = layout});
}

TEST(Recurrent, EndsSequencesWhereTheyEnd) {
  for (const std::string direction : {"forward", "reverse", "bidirectional"})
    for (const int64_t layout : {0, 1}) {
      check_every_cell({.steps = 4, .batch = 5, .direction = direction, .layout = layout, .lengths = {0, 4, 2, 1, 3}});
      check_every_cell({.steps = 4, .batch = 2, .direction = direction, .layout = layout, .lengths = {0, 0}});
    }
}

TEST(Recurrent, ClipsWhatEntersAnActivation) {
  check_every_cell({.hidden = 17, .clip = 0.2f});
  check_every_cell({.hidden = 17, .clip = 0.0f});
}

TEST(Recurrent, HasEveryActivation) {
  for (const std::string name : {"Tanh", "Sigmoid", "Relu", "Softsign", "Softplus", "LeakyRelu", "ThresholdedRelu",
                                 "Elu", "Affine", "ScaledTanh", "HardSigmoid"}) {
    SCOPED_TRACE(name);
    for (const RecurrentCell cell : {RNN, GRU, LSTM}) {
      const size_t functions = default_activations(cell).size();
      Layer l{.cell = cell, .steps = 2, .hidden = 17};
      l.activations.assign(functions, name);
      check(l);
      if (name == "Affine" || name == "ScaledTanh" || name == "HardSigmoid") l.beta.assign(functions, 0.3f);
      if (!l.beta.empty() || name == "LeakyRelu" || name == "ThresholdedRelu" || name == "Elu")
        l.alpha.assign(functions, 0.05f);
      check(l);
    }
  }
}

TEST(Recurrent, TakesTheActivationsOfEachDirection) {
  check({.steps = 2,
         .hidden = 17,
         .direction = "bidirectional",
         .activations = {"HardSigmoid", "Relu", "Tanh", "Sigmoid", "Affine", "Softsign"},
         .alpha = {0.3f, 0.5f},
         .beta = {0.4f, 0.1f}});
}

// NaN in one sequence leaves the others alone, and stays in its own.
TEST(Recurrent, KeepsNaN) {
  for (const RecurrentCell cell : {RNN, GRU, LSTM}) {
    const Layer l{.cell = cell, .steps = 2, .batch = 3, .hidden = 17};
    auto inputs = inputs_of(l);
    inputs[0].as_mutable<float>()[static_cast<size_t>(l.inputs)] = std::nanf("");
    for_each_isa([&] {
      const auto results = run_packed("cpu", l, inputs);
      const auto last = results[1].as<float>();
      for (size_t i = 0; i < last.size(); ++i) ASSERT_EQ(std::isnan(last[i]), i / 17 == 1) << i;
    });
  }
}

TEST(Recurrent, HasTheSameBitsForAnyNumberOfThreads) {
  ThreadPool one(1), three(3);
  for (const RecurrentCell cell : {RNN, GRU, LSTM})
    for (const bool variant : {false, true})
      for (const std::string direction : {"forward", "bidirectional"})
        for (const int64_t batch : {1, 3, 30}) {
          const Layer l{.cell = cell,
                        .steps = 12,
                        .batch = batch,
                        .inputs = 20,
                        .hidden = 150,
                        .direction = direction,
                        .variant = variant};
          const auto inputs = inputs_of(l);
          for_each_isa([&] {
            const auto alone = run_packed("cpu", l, inputs);
            for (ThreadPool* pool : {&one, &three}) {
              const auto shared = run_packed("cpu", l, inputs, pool);
              for (size_t o = 0; o < alone.size(); ++o) EXPECT_TRUE(same_bits(shared[o], alone[o]));
            }
          });
        }
}

// However many steps and sequences go through it together, each has the bits that it has alone.
TEST(Recurrent, HasTheSameBitsForAnyCutOfStepsAndSequences) {
  for (const int64_t layout : {0, 1}) {
    const Layer l{.steps = 300, .batch = 14, .inputs = 5, .hidden = 33, .layout = layout, .optional = false};
    const auto inputs = inputs_of(l);
    const Tensor& x = inputs[0];
    constexpr int64_t kSequence = 13, kSteps = 7;
    std::vector<float> part;
    for (int64_t t = 0; t < kSteps; ++t)
      for (int64_t i = 0; i < l.inputs; ++i)
        part.push_back(x.as<float>()[static_cast<size_t>(
            (layout == 0 ? t * l.batch + kSequence : kSequence * l.steps + t) * l.inputs + i)]);
    Layer small = l;
    small.steps = kSteps;
    small.batch = 1;
    auto few = inputs;
    few[0] = Tensor::of<float>({layout == 0 ? kSteps : 1, layout == 0 ? 1 : kSteps, l.inputs}, part);
    for_each_isa([&] {
      const auto all = run_packed("cpu", l, inputs), alone = run_packed("cpu", small, few);
      for (int64_t t = 0; t < kSteps; ++t) {
        const int64_t at = layout == 0 ? t * l.batch + kSequence : kSequence * l.steps + t;
        EXPECT_EQ(std::memcmp(all[0].as<float>().data() + at * l.hidden, alone[0].as<float>().data() + t * l.hidden,
                              static_cast<size_t>(l.hidden) * sizeof(float)),
                  0)
            << t;
      }
    });
  }
}

TEST(Recurrent, RefusesLengthsThatDoNotFit) {
  const Layer l{.batch = 2, .lengths = {1, 4}};
  auto inputs = inputs_of(l);
  for (const size_t i : {1, 2}) inputs[i] = pack(inputs[i], 4);
  const auto dims = all_output_dims(l.op(), l.packed(), inputs, 1);
  ASSERT_TRUE(dims.ok());
  const Tensor y = noise((*dims)[0], 1);
  std::vector<TensorView> in;
  for (const Tensor& t : inputs) in.push_back(t.defined() ? t.view() : TensorView{});
  const std::vector<const Value*> boxed(in.size(), nullptr);
  for (const std::string provider : {"reference", "cpu"}) {
    KernelRun services(nullptr);
    const Status status = call_kernel(*find_family(provider + "/LSTM"), l.packed(), in, boxed,
                                      std::vector<TensorView>{y.view()}, services);
    EXPECT_EQ(status.message(), "sequence_lens[1] is 4, but the sequences have 3 steps");
  }
}

TEST(Recurrent, RefusesOperandsThatDoNotFit) {
  const Layer l{.cell = GRU, .hidden = 17};
  auto inputs = packed_inputs(l, inputs_of(l));
  const auto refused = [&](const RecurrentParams& common) {
    return !all_output_dims(l.op(), l.params(common), inputs, 2).ok();
  };
  const RecurrentParams right = l.common(RecurrentWeights::Panels);
  EXPECT_FALSE(refused(right));
  EXPECT_TRUE(refused(l.common(RecurrentWeights::Rows)));
  RecurrentParams p = right;
  p.hidden_size.reset();
  EXPECT_TRUE(refused(p));
  p.hidden_size = 16;
  EXPECT_TRUE(refused(p));
  p = right;
  p.direction = "bidirectional";
  EXPECT_TRUE(refused(p));
  inputs[0] = noise({3, 1, 5}, 1);
  EXPECT_TRUE(refused(right));
}

// Weights as ONNX has them go to the reference's kernel.
TEST(Recurrent, LeavesRowsToTheReference) {
  const Layer l{.cell = LSTM, .hidden = 17};
  const auto inputs = inputs_of(l);
  const Params rows = l.params(l.common(RecurrentWeights::Rows));
  const auto left = run_layer("cpu", l, rows, inputs), right = run_layer("reference", l, rows, inputs);
  for (size_t o = 0; o < left.size(); ++o) EXPECT_TRUE(same_bits(left[o], right[o]));
}

}  // namespace
}  // namespace tenon::test
