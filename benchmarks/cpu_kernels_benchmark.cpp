// Speed of the cpu provider's kernels: GFLOP/s of products and convolutions, GB/s of packing beside memcpy.
// The first argument of a case is the number of threads. Rates are those of the fastest call: the others measure the
// neighbours.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>
#include <limits>

#include "base/checked_math.h"
#include "base/thread_pool.h"
#include "ops/packed.h"
#include "providers/provider.h"

namespace tenon {
namespace {

class BenchmarkRun final : public KernelServices {
 public:
  explicit BenchmarkRun(int64_t threads) : pool_(static_cast<int>(threads) - 1) {}
  Result<TensorView> allocate_output(size_t, std::vector<int64_t>) override { return none(); }
  void set_output(size_t, Value) override {}
  Result<Value> take_input(size_t) override { return none(); }
  Result<std::vector<Value>> run_body(size_t, std::vector<Value>) override { return none(); }
  size_t body_input_count(size_t) override { return 0; }
  Type body_output_type(size_t, size_t) override { return {}; }
  Status check_cancelled() override { return {}; }
  const std::shared_ptr<MemoryBudget>& budget() override { return budget_; }
  uint64_t random_stream() override { return 0; }
  Status count_iterations(int64_t) override { return {}; }
  int threads() override { return pool_.workers() + 1; }
  void parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body) override { pool_.parallel_for(chunks, body); }
  ThreadPool& pool() { return pool_; }

 private:
  static Status none() { return error(Code::Internal, "not in a benchmark"); }
  ThreadPool pool_;
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(int64_t{8} << 30);
};

Tensor filled(std::vector<int64_t> dims, BenchmarkRun& run) {
  Tensor t = std::move(Tensor::allocate(DType::Float32, std::move(dims), run.budget()).value());
  float value = -0.5f;
  for (float& x : t.as_mutable<float>()) x = value = value > 0.5f ? -0.5f : value + 0.0137f;
  return t;
}

// Runs f in the benchmark's loop and gives the seconds of its fastest call.
template <class F>
double fastest(benchmark::State& state, F f) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (auto _ : state) {
    const auto start = Clock::now();
    f();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

double call(benchmark::State& state, const char* family, const Params& params, const std::vector<Tensor>& inputs,
            const Tensor& output, BenchmarkRun& run) {
  const KernelFamily& kernel = *find_family(family);
  std::vector<TensorView> in, out{output.view()};
  for (const Tensor& t : inputs) in.push_back(t.view());
  const std::vector<const Value*> boxed(in.size(), nullptr);
  const auto bound = bind_kernel(kernel, {params, in, out, usable_isas().front()});
  return fastest(state, [&] {
    const Status status = call_bound(*bound, kernel, params, in, boxed, out, run);
    if (!status.ok()) state.SkipWithError(status.to_string().c_str());
  });
}

void report(benchmark::State& state, const char* unit, int64_t count, double seconds) {
  state.counters[unit] = 1e-9 * static_cast<double>(count) / seconds;
}

void matmul(benchmark::State& state, int64_t m, int64_t n, int64_t k) {
  BenchmarkRun run(state.range(0));
  const Params params = Params::of(PackedMatMulParams{.columns = {n}, .k = k});
  const Tensor packed = filled({1, ceil_div(n, kPanelWidth), k, kPanelWidth}, run);
  const double seconds = call(state, "cpu/PackedMatMul", params, {filled({m, k}, run), packed, filled({n}, run)},
                              filled({m, n}, run), run);
  report(state, "GFLOP/s", 2 * m * n * k, seconds);
}

struct ConvCase {
  int64_t channels, outputs, size, kernel, stride, group;
};

void conv(benchmark::State& state, const ConvCase& c) {
  BenchmarkRun run(state.range(0));
  const int64_t pad = c.kernel / 2, out = (c.size + 2 * pad - c.kernel) / c.stride + 1;
  PackedConvParams p{.output_channels = c.outputs};
  p.conv.window = {.kernel_shape = {c.kernel, c.kernel}, .strides = {c.stride, c.stride}, .pads = {pad, pad, pad, pad}};
  p.conv.group = c.group;
  p.activation.kind = ActivationKind::Relu;
  const int64_t depth = c.channels / c.group * c.kernel * c.kernel;
  const bool depthwise = c.group == c.channels && c.group > 1;
  if (depthwise) p.layout = PackedLayout::Depthwise;
  const int64_t panels = ceil_div(depthwise ? c.outputs : c.outputs / c.group, kPanelWidth);
  const Tensor packed =
      depthwise ? filled({panels, depth, kPanelWidth}, run) : filled({c.group, panels, depth, kPanelWidth}, run);
  const double seconds = call(state, "cpu/PackedConv", Params::of(p),
                              {filled({1, c.channels, c.size, c.size}, run), packed, filled({c.outputs}, run)},
                              filled({1, c.outputs, out, out}, run), run);
  report(state, "GFLOP/s", 2 * c.outputs * out * out * depth, seconds);
}

// Weights of so many layers, one after the other, as a swap packs them: none is in a cache when its turn comes.
constexpr int64_t kLayers = 32, kOutputs = 512, kDepth = 4608;

void pack(benchmark::State& state, WeightOrder source, std::vector<int64_t> dims, bool scaled) {
  BenchmarkRun run(state.range(0));
  const Params params = Params::of(PackPanelsParams{.source = source});
  const KernelFamily& kernel = *find_family("cpu/PackPanels");
  const Tensor scale = filled({kOutputs}, run);
  std::vector<Tensor> weights, packed;
  for (int64_t i = 0; i < kLayers; ++i) {
    weights.push_back(filled(dims, run));
    packed.push_back(filled({1, kOutputs / kPanelWidth, kDepth, kPanelWidth}, run));
  }
  const std::vector<const Value*> boxed(2, nullptr);
  size_t layer = 0;
  const double seconds = fastest(state, [&] {
    layer = (layer + 1) % weights.size();
    const std::vector<TensorView> in{weights[layer].view(), scaled ? scale.view() : TensorView{}};
    const std::vector<TensorView> out{packed[layer].view()};
    if (!call_kernel(kernel, params, in, boxed, out, run).ok()) state.SkipWithError("packing failed");
  });
  report(state, "GB/s", packed[0].bytes(), seconds);
}

// All layers through memcpy, one piece per thread: large copies bypass the caches, which is memcpy at its best.
void copy(benchmark::State& state) {
  BenchmarkRun run(state.range(0));
  const int64_t pieces = state.range(0);
  const Tensor from = filled({kLayers, kOutputs, kDepth}, run);
  Tensor to = filled({kLayers, kOutputs, kDepth}, run);
  const int64_t bytes = from.bytes() / pieces;
  const double seconds = fastest(state, [&] {
    run.pool().parallel_for(pieces, [&](int64_t i) {
      std::memcpy(static_cast<char*>(to.mutable_data()) + i * bytes, static_cast<const char*>(from.data()) + i * bytes,
                  static_cast<size_t>(bytes));
    });
  });
  report(state, "GB/s", bytes * pieces, seconds);
}

// Threads of the machine are busy with one process at a time, so that real time is what counts.
#define CASE(function, name, ...) \
  BENCHMARK_CAPTURE(function, name, __VA_ARGS__)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMicrosecond)

CASE(matmul, 512x512x512, 512, 512, 512);
CASE(matmul, 128x768x768, 128, 768, 768);
CASE(matmul, 128x3072x768, 128, 3072, 768);
CASE(matmul, 128x768x3072, 128, 768, 3072);
CASE(matmul, 126x256x256, 126, 256, 256);
CASE(matmul, 1x768x768, 1, 768, 768);
CASE(matmul, 1x4096x4096, 1, 4096, 4096);
CASE(conv, 3x3_64_64_56, ConvCase{64, 64, 56, 3, 1, 1});
CASE(conv, 3x3_256_256_14, ConvCase{256, 256, 14, 3, 1, 1});
CASE(conv, 3x3_stride2_128_128_56, ConvCase{128, 128, 56, 3, 2, 1});
CASE(conv, 7x7_stride2_3_64_224, ConvCase{3, 64, 224, 7, 2, 1});
CASE(conv, 1x1_256_64_56, ConvCase{256, 64, 56, 1, 1, 1});
CASE(conv, 1x1_64_256_56, ConvCase{64, 256, 56, 1, 1, 1});
CASE(conv, 1x1_512_2048_7, ConvCase{512, 2048, 7, 1, 1, 1});
CASE(conv, 1x1_960_240_1, ConvCase{960, 240, 1, 1, 1, 1});
CASE(conv, depthwise_144_56, ConvCase{144, 144, 56, 3, 1, 144});
CASE(conv, depthwise_stride2_144_56, ConvCase{144, 144, 56, 3, 2, 144});
CASE(conv, depthwise_960_7, ConvCase{960, 960, 7, 3, 1, 960});
CASE(pack, nk, WeightOrder::OutputsFirst, std::vector<int64_t>{kOutputs, 512, 3, 3}, false);
CASE(pack, nk_scaled, WeightOrder::OutputsFirst, std::vector<int64_t>{kOutputs, 512, 3, 3}, true);
CASE(pack, kn, WeightOrder::DepthFirst, std::vector<int64_t>{kDepth, kOutputs}, false);
BENCHMARK(copy)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tenon
