#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "swap/weight_snapshot.h"
#include "weights/weight_source.h"

namespace tenon {

struct Program;

struct SwapOptions {
  bool partial = false;           // weights that the new set does not have stay as they are
  bool strict = false;            // a tensor of the new set that the model does not have is an error
  std::vector<std::string> only;  // take these alone; the others count as not there
  // Weights of other models that take the same set: neither extra, nor unknown in `only`.
  std::set<std::string> elsewhere;
  bool keep_sources = false;  // hold on to tensors in memory, so that later partial swaps can draw on them
  bool map = true;            // use files where they lie; false: copy, so that they may be rewritten in place
  bool recompile = false;     // an answer that changes is no refusal: the plan is made again
};

// A question that new weights answer differently. Answers are those of plan/property.h, or the hash of elements.
struct BrokenGuard {
  std::string weight, asker, property, before, after;
};

// What new weights mean for a program, before anything is computed.
struct PlannedSwap {
  std::vector<BrokenGuard> broken;     // not empty: the plan must be made again, and `slots` says nothing
  std::vector<bool> changed;           // by source: taken from the new set
  std::vector<std::string> unchanged;  // names of weights that stay
  std::vector<std::string> ignored;    // names in the new set that the model does not have, or that `only` leaves out
  std::vector<size_t> slots;           // to compute again
};

// Names of weights that slots still wait for.
std::vector<std::string> open_weights(const Program& program, const WeightSnapshot& weights);
std::string open_weights_text(const Program& program, const WeightSnapshot& weights);

// What is wrong with new weights for several models, as one refusal.
class SwapChecks {
 public:
  // `model` is what the refusal calls it; empty when there is only one.
  void add(const std::string& model, const Status& status);
  Status finish();

 private:
  std::optional<Code> code_;
  std::string text_;
};

// Compares a new set of weights with what a program needs. A refusal names everything that is wrong at once.
Result<PlannedSwap> plan_swap(const Program& program, const WeightSnapshot& current, const WeightSource& source,
                              const SwapOptions& options);

}  // namespace tenon
