#include "providers/machine_speed.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "providers/cpu/multiply_adds.h"

namespace tenon {

namespace {

// The best of several tries counts: others may use the machine as well.
constexpr int kTries = 5;

double seconds_of(FunctionRef<void()> work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void for_chunks(ThreadPool* pool, int64_t chunks, FunctionRef<void(int64_t)> body) {
  if (pool) return pool->parallel_for(chunks, body);
  for (int64_t i = 0; i < chunks; ++i) body(i);
}

double measure_flops(ThreadPool* pool, Isa isa) {
  constexpr int64_t kRounds = 20'000, kChunks = 64;
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    std::atomic<int64_t> done = 0;
    const double seconds = seconds_of([&] {
      for_chunks(pool, kChunks, [&](int64_t) {
        float result = 1;
        done += run_multiply_adds(isa, kRounds, &result);
        if (result < 0) done = 0;  // never; the compiler cannot know
      });
    });
    best = std::max(best, static_cast<double>(done) / seconds);
  }
  return best;
}

Result<double> measure_copy(ThreadPool* pool) {
  constexpr int64_t kChunk = 1 << 20, kChunks = 64;  // together more than the caches of two cores
  constexpr int64_t kFloats = kChunk / static_cast<int64_t>(sizeof(float));
  TN_ASSIGN_OR_RETURN(const Tensor from, Tensor::allocate(DType::Float32, {kChunks * kFloats}, nullptr));
  TN_ASSIGN_OR_RETURN(const Tensor to, Tensor::allocate(DType::Float32, {kChunks * kFloats}, nullptr));
  const auto source = from.view().as<float>(), target = to.view().as<float>();
  std::ranges::fill(source, 1.0f);
  double best = 0;
  for (int i = 0; i <= 2 * kTries; ++i) {
    // In turns as any program copies, and past the caches; the first one meets fresh memory.
    const bool streaming = i % 2 != 0;
    const double seconds = seconds_of([&] {
      for_chunks(pool, kChunks, [&](int64_t chunk) {
        const float* first = source.data() + chunk * kFloats;
        float* there = target.data() + chunk * kFloats;
        if (streaming)
          copy_floats(first, kFloats, true, there);
        else
          std::memcpy(there, first, kChunk);
      });
    });
    best = std::max(best, 2 * static_cast<double>(kChunk * kChunks) / seconds);
  }
  return best;
}

}  // namespace

Result<MachineSpeed> measure_machine_speed(ThreadPool* pool, Isa isa) {
  TN_ASSIGN_OR_RETURN(const double bytes, measure_copy(pool));
  return MachineSpeed{measure_flops(pool, isa), bytes};
}

}  // namespace tenon
