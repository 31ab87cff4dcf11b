#pragma once

#include <array>

#include "providers/provider.h"

namespace tenon {

inline constexpr size_t kMostCopyAxes = 16;

// A copy between two places in memory, each of which has a step of its own along every axis. Steps are in elements; a
// step of 0 along `from` repeats.
struct StridedCopy {
  struct Axis {
    int64_t extent = 1, from = 0, to = 0;
  };
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  int64_t element_bytes = 4;
  std::array<Axis, kMostCopyAxes> axes;  // outermost first
  size_t count = 0;

  void add(int64_t extent, int64_t from_step, int64_t to_step) { axes[count++] = {extent, from_step, to_step}; }
};

// Makes all copies of a step, cut into chunks by their shapes.
void run_copies(KernelContext& c, std::span<StridedCopy> copies);

}  // namespace tenon
