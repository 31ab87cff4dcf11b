#pragma once

#include <functional>

#include "swap/shared_slots.h"
#include "swap/spare_buffers.h"
#include "swap/swap_check.h"
#include "swap/weight_program.h"

namespace tenon {

// Why and how long a model was compiled again for new weights.
struct RecompileReport {
  std::vector<BrokenGuard> guards;
  double seconds = 0;  // for the plan; packing the weights is counted as always
};

// What a swap did, for people and tools.
struct SwapReport {
  std::vector<std::string> replaced, kept, ignored;
  std::vector<std::string> open;        // still to be set before the model can run
  std::vector<std::string> not_finite;  // replaced by tensors with NaN or infinity in them
  std::vector<std::string> warnings;    // sentences about what the new weights do not bring along
  size_t slots_redone = 0, slots = 0;
  int64_t bytes_redone = 0;  // of packed weights
  double seconds = 0;
  std::optional<RecompileReport> recompiled;
};

// What computing weights draws on.
struct SwapTools {
  const WeightProgram& weights;
  SpareBuffers& spare;
  std::shared_ptr<MemoryBudget> budget;  // for scratch
  ThreadPool* pool = nullptr;
  SharedSlots* shared = nullptr;  // of models that change together; null for one alone
};

// Where the new weights of a model come from, whose weights are `current`: a folder means something else to each.
using SourceOfModel = std::function<Result<std::shared_ptr<const WeightSource>>(const WeightSnapshot& current)>;

struct NewWeights {
  std::shared_ptr<const WeightSnapshot> snapshot;
  SwapReport report;
};

// The snapshot that follows `current` when `source` is applied: only what changed sources reach is computed again.
Result<NewWeights> make_new_weights(const SwapTools& tools, const WeightSnapshot& current,
                                    const std::shared_ptr<const WeightSource>& source, const SwapOptions& options);

// The snapshot with its slots computed from its sources.
Result<std::shared_ptr<const WeightSnapshot>> make_first_weights(const SwapTools& tools, WeightSnapshot weights);

}  // namespace tenon
