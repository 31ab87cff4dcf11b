#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace tenon {

// How the elements of a value lie in memory while a plan runs. What enters and leaves a plan is plain; inside, kernels
// that agree on it may hand each other something they read faster.
struct ValueLayout {
  enum class Kind : uint8_t {
    Plain,     // row-major
    Blocked16  // [N, C, spatial...] as [N, blocks of 16 channels, spatial..., 16]; lanes past the last channel are
               // finite
  };
  Kind kind = Kind::Plain;
  // Blocked only: positions that are stored around the value on both sides of every spatial axis. They hold what means
  // zero to its readers.
  uint8_t border = 0;
  // Blocked only: channels of the parts that the value is joined from, when each part begins a block of its own; empty:
  // one part.
  std::vector<int64_t> segments;

  bool is_plain() const { return kind == Kind::Plain; }
  bool operator==(const ValueLayout&) const = default;
};

inline constexpr int64_t kLanes = 16;

// "", "blocked16", "blocked16 border=1 segments=24+24".
std::string layout_text(const ValueLayout& layout);
// Blocks of 16 channels that a blocked value of so many channels has.
int64_t channel_blocks(const ValueLayout& layout, int64_t channels);
// Elements that are stored for a value of these dims; nothing when they are too many to count.
std::optional<int64_t> stored_elements(const ValueLayout& layout, Dims dims);

}  // namespace tenon
