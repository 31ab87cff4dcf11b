#pragma once

#include <deque>
#include <map>
#include <span>

#include "plan/plan.h"
#include "swap/weight_snapshot.h"
#include "tensor/value.h"

namespace tenon {

// Slots that several entries would make alike: by equal expressions, from sources of equal type and content. Names,
// files and sessions do not matter, so a slot is stored once as it is in a weights file. For one change of weights, of
// one model or of several together. Not thread-safe.
class SharedSlots {
 public:
  struct Slot {
    std::vector<std::shared_ptr<const SourceBytes>> sources;  // of the entry, in order
    Tensor tensor;                                            // undefined until somebody made it
    std::vector<bool> not_finite;                             // by source: there is NaN or infinity in it
  };

  // The one slot for all entries like this one, new when it is the first. Stays valid. Null when a source cannot be
  // read. Most large sources are told apart by a few samples; only what these cannot tell apart is read. `inputs`: the
  // sources of the entry where they were read already, as reading may cost a copy; or none.
  Slot* find(const Program& program, const WeightEntry& entry, const WeightSnapshot& snapshot,
             std::span<const Value> inputs);

 private:
  std::map<Hash128, std::deque<Slot>> slots_;  // by a key that slots of other content may have too
};

}  // namespace tenon
