// DFT and STFT of floats: several signals at a time, side by side.
#include "ops/fourier.h"

#include <algorithm>
#include <mutex>

#include "base/checked_math.h"
#include "providers/cpu/fourier_plan.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/rows.h"
#include "providers/reference/indexing.h"
#include "providers/reference/integers.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// Shorter ones cost little, and the reference rounds their results once.
constexpr int64_t kShortestTransform = 32;
constexpr int64_t kLongestTransform = 1 << 17;  // whose plan is kept
constexpr int64_t kSignalElements = 1 << 14;    // of signals side by side
constexpr int64_t kMostSignals = 16;

// Lengths may be inputs, so plans are made in the first run that needs them.
class FourierState {
 public:
  explicit FourierState(Isa isa) : functions(fourier_functions(isa)) {}

  std::shared_ptr<const FourierPlan> plan(int64_t length) const {
    const std::lock_guard lock(mutex_);
    if (!plan_ || plan_->length != length) plan_ = std::make_shared<const FourierPlan>(plan_fourier(length));
    return plan_;
  }

  const FourierFunctions& functions;

 private:
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const FourierPlan> plan_;
};

Result<KernelState> bind_fourier(const BindRequest& request) {
  if (request.inputs[0].dtype != DType::Float32 || request.outputs[0].dtype != DType::Float32)
    return error(Code::Unsupported, "its elements are not float32");
  return KernelState{std::make_shared<FourierState>(request.isa)};
}

// Where the elements of a signal lie.
struct SignalPlace {
  int64_t start = 0, step = 1, components = 1;
};

// Signals that go through the same transform.
struct SignalBatch {
  int64_t count = 0;
  int64_t read = 0, written = 0;  // elements of each; what is not read is zero
  bool inverse = false;
  bool completes = false;  // the second half of a spectrum from its first
  const float* window = nullptr;
};

class SignalRun {
 public:
  SignalRun(KernelContext& c, const SignalBatch& batch, std::shared_ptr<const FourierPlan> plan)
      : c_(c), functions_(c.state<FourierState>().functions), batch_(batch), plan_(std::move(plan)),
        x_(static_cast<const float*>(c.in(0).data)), y_(static_cast<float*>(c.out(0).data)) {}

  // source(i) and target(i) tell where signal i lies.
  template <class Source, class Target>
  void run(const Source& source, const Target& target) {
    const int64_t size = plan_->passes.length;
    const int64_t together = std::clamp<int64_t>(kSignalElements / size, 1, std::min(kMostSignals, batch_.count));
    c_.parallel_for(ceil_div(batch_.count, together), [&](int64_t chunk) {
      poll_cancelled();
      const int64_t first = chunk * together, width = std::min(together, batch_.count - first);
      const auto floats = static_cast<size_t>(size * width);
      Scratch<float> memory(4 * floats);
      FourierSignals from{memory.data(), memory.data() + floats}, other{from.imaginary + floats, nullptr};
      other.imaginary = other.real + floats;
      for (int64_t i = 0; i < width; ++i) read(source(first + i), i, width, from);
      if (batch_.completes) complete(width, from);
      // The way back is the way forth with real and imaginary parts exchanged.
      if (batch_.inverse) std::swap(from.real, from.imaginary);
      if (batch_.inverse) std::swap(other.real, other.imaginary);
      FourierSignals to = transform_forward(*plan_, functions_, width, from, other);
      if (batch_.inverse) std::swap(to.real, to.imaginary);
      for (int64_t i = 0; i < width; ++i) write(to, i, width, target(first + i));
    });
  }

 private:
  void read(const SignalPlace& place, int64_t lane, int64_t width, FourierSignals to) const {
    const float* x = x_ + place.start;
    for (int64_t t = 0; t < batch_.read; ++t, x += place.step) {
      const float factor = batch_.window ? batch_.window[t] : 1.0f;
      to.real[t * width + lane] = x[0] * factor;
      if (place.components == 2) to.imaginary[t * width + lane] = x[1] * factor;
    }
  }

  void complete(int64_t width, FourierSignals s) const {
    const int64_t n = plan_->length;
    std::fill_n(s.imaginary, width, 0.0f);
    for (int64_t k = 1; 2 * k <= n; ++k)
      for (int64_t i = 0; i < width; ++i) {
        float &real = s.real[k * width + i], &imaginary = s.imaginary[k * width + i];
        if (2 * k == n) imaginary = 0;
        s.real[(n - k) * width + i] = real;
        if (2 * k < n) s.imaginary[(n - k) * width + i] = -imaginary;
      }
  }

  void write(FourierSignals from, int64_t lane, int64_t width, const SignalPlace& place) const {
    float* y = y_ + place.start;
    const float factor = batch_.inverse ? 1.0f / static_cast<float>(plan_->length) : 1.0f;
    for (int64_t t = 0; t < batch_.written; ++t, y += place.step) {
      y[0] = from.real[t * width + lane] * factor;
      if (place.components == 2) y[1] = from.imaginary[t * width + lane] * factor;
    }
  }

  KernelContext& c_;
  const FourierFunctions& functions_;
  const SignalBatch& batch_;
  std::shared_ptr<const FourierPlan> plan_;
  const float* x_;
  float* y_;
};

Status run_dft_lines(KernelContext& c) {
  const auto& p = c.params<DFTParams>();
  if (c.out(0).size() == 0) return {};
  const Dims in = c.in(0).dims, out = c.out(0).dims;
  const int64_t rank = c.in(0).rank(), named = c.has(2) ? integer_at(c.in(2), 0) : -2;
  const int64_t axis = named < 0 ? named + rank : named;
  const AxisSplit from(in, axis), to(out, axis);
  int64_t length = to.extent;
  if (p.onesided && !p.inverse) length = c.has(1) ? integer_at(c.in(1), 0) : from.extent;
  if (length < kShortestTransform || length > kLongestTransform) return reference_function(OpId::DFT)(c);
  const bool completes = p.onesided && p.inverse;
  const int64_t lanes = from.inner / in.back();  // signals that interleave
  const SignalBatch batch{.count = from.outer * lanes,
                          .read = std::min(from.extent, completes ? length / 2 + 1 : length),
                          .written = to.extent,
                          .inverse = p.inverse,
                          .completes = completes};
  const auto place = [&](const AxisSplit& split, int64_t components, int64_t i) {
    return SignalPlace{i / lanes * split.extent * split.inner + i % lanes * components, split.inner, components};
  };
  SignalRun(c, batch, c.state<FourierState>().plan(length))
      .run([&](int64_t i) { return place(from, in.back(), i); }, [&](int64_t i) { return place(to, out.back(), i); });
  return {};
}

Status run_stft_frames(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const Dims in = c.in(0).dims, out = c.out(0).dims;
  const int64_t components = in.size() == 3 ? in[2] : 1, step = integer_at(c.in(1), 0);
  const int64_t length = c.has(3) ? integer_at(c.in(3), 0) : c.has(2) ? c.in(2).dims[0] : in[1];
  if (length < kShortestTransform || length > kLongestTransform) return reference_function(OpId::STFT)(c);
  const SignalBatch batch{.count = out[0] * out[1],
                          .read = length,
                          .written = out[2],
                          .window = c.has(2) ? static_cast<const float*>(c.in(2).data) : nullptr};
  SignalRun(c, batch, c.state<FourierState>().plan(length))
      .run(
          [&](int64_t i) {
            return SignalPlace{(i / out[1] * in[1] + i % out[1] * step) * components, components, components};
          },
          [&](int64_t i) { return SignalPlace{i * out[2] * 2, 2, 2}; });
  return {};
}

}  // namespace

std::span<const Variant> dft_variants() {
  static const auto variants = with_reference(OpId::DFT, {{"fast", run_dft_lines, bind_fourier, true}});
  return variants;
}

std::span<const Variant> stft_variants() {
  static const auto variants = with_reference(OpId::STFT, {{"fast", run_stft_frames, bind_fourier, true}});
  return variants;
}

}  // namespace tenon
