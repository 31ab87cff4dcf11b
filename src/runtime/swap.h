#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/spare_buffers.h"
#include "runtime/swap_check.h"
#include "runtime/weight_program.h"

namespace tenon {

// What a swap did, for people and tools.
struct SwapReport {
  std::vector<std::string> replaced, kept, ignored;
  std::vector<std::string> not_finite;  // replaced by tensors with NaN or infinity in them
  size_t slots_redone = 0, slots = 0;
  int64_t bytes_redone = 0;  // of packed weights
  double seconds = 0;
};

// What computing weights draws on.
struct SwapTools {
  const WeightProgram& weights;
  SpareBuffers& spare;
  std::shared_ptr<MemoryBudget> budget;  // for scratch
  ThreadPool* pool = nullptr;
  // Slots that models of one group share, by expression and sources; null for one model alone.
  std::map<std::string, Tensor>* shared = nullptr;
};

struct NewWeights {
  std::shared_ptr<const WeightSnapshot> snapshot;
  SwapReport report;
};

// The snapshot that follows `current` when `source` is applied: only what changed sources reach is computed again.
Result<NewWeights> make_new_weights(const SwapTools& tools, const WeightSnapshot& current,
                                    const std::shared_ptr<const WeightSource>& source, const SwapOptions& options);

// A snapshot from the sources alone.
Result<std::shared_ptr<const WeightSnapshot>> make_first_weights(
    const SwapTools& tools, std::vector<std::shared_ptr<const SourceBytes>> sources);

}  // namespace tenon
