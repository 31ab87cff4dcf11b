#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "providers/provider.h"

namespace tenon {

// Random numbers by counting: number i of a stream depends on the stream's key and on i alone, so results are the
// same on every machine and in any order of evaluation. The generator is Philox4x32-10; docs/random.md has the details.
class RandomStream {
 public:
  explicit RandomStream(uint64_t key) : key_(key) {}
  // The stream of a step: from its seed attribute, or the run's next stream when it has none.
  static RandomStream of(std::optional<float> seed, KernelServices& services);
  static RandomStream of(std::optional<int64_t> seed, KernelServices& services);

  // 64 random bits.
  uint64_t bits(uint64_t index) const;
  // A multiple of 2^-digits in [0, 1); digits up to 53.
  double uniform(uint64_t index, int digits = 53) const;
  // Mean 0, variance 1.
  double normal(uint64_t index) const;

 private:
  uint64_t key_;
};

// One block of Philox4x32-10.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);
// The number below which a standard normal variable falls with probability p, 0 < p < 1. Plain arithmetic only, so it
// has the same bits everywhere.
double normal_quantile(double p);

}  // namespace tenon
