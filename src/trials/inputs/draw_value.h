#pragma once

#include "tensor/value.h"
#include "trials/inputs/accepted_values.h"

namespace tenon {

// Numbers that look random: splitmix64, the same on every machine.
class RandomStream {
 public:
  explicit RandomStream(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // In [low, high].
  int64_t integer(int64_t low, int64_t high) {
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    return static_cast<int64_t>(static_cast<uint64_t>(low) + (span ? next() % span : next()));
  }

 private:
  uint64_t state_;
};

// A tensor of accepted elements, which takes its memory from the budget.
Result<Tensor> draw_tensor(DType dtype, std::vector<int64_t> dims, const Accepted& accepted, RandomStream& random,
                           const std::shared_ptr<MemoryBudget>& budget);

}  // namespace tenon
