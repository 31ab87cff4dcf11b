#pragma once

#include "providers/provider.h"

namespace tenon {

// The lengths of sequences that input i gives, if it is there, must not exceed the steps.
inline Status check_sequence_lengths(const KernelContext& c, size_t i, int64_t steps) {
  if (!c.has(i)) return {};
  const auto lengths = c.in(i).as<int32_t>();
  for (size_t n = 0; n < lengths.size(); ++n)
    if (lengths[n] < 0 || lengths[n] > steps)
      return invalid_argument("sequence_lens[{}] is {}, but the sequences have {} steps", n, lengths[n], steps);
  return {};
}

}  // namespace tenon
