#pragma once

#include "ops/tree_ensemble.h"
#include "providers/provider.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

// The trees of a step, checked and ready to be walked. Reads the step's inputs, so it lives no longer than the step.
class TreeWalk {
 public:
  static Result<TreeWalk> make(KernelContext& c, int64_t targets);

  size_t tree_count() const { return structure_.roots.size(); }
  int64_t row_count() const { return rows_; }
  // Calls visit(target, weight) for what the leaf of each tree adds for a row of X.
  template <class Visit>
  void for_each_weight(int64_t row, Visit&& visit) const {
    WorkMeter meter;
    meter.spend();
    for (int64_t root : structure_.roots) {
      const size_t leaf = leaf_of(row, static_cast<size_t>(root), meter);
      if (structure_.leaf_offsets.empty()) {
        visit(static_cast<size_t>(structure_.leaf_targets[leaf]), weights_[leaf]);
        continue;
      }
      for (int64_t at = structure_.leaf_offsets[leaf]; at < structure_.leaf_offsets[leaf + 1]; ++at) {
        meter.spend();
        const auto entry = static_cast<size_t>(structure_.leaf_entries[static_cast<size_t>(at)]);
        visit(static_cast<size_t>(structure_.leaf_targets[entry]), weights_[entry]);
      }
    }
  }
  std::span<const int64_t> leaf_targets() const { return structure_.leaf_targets; }
  std::span<const double> weights() const { return weights_; }

 private:
  Status read_values(KernelContext& c);
  size_t leaf_of(int64_t row, size_t node, WorkMeter& meter) const;
  bool takes_true_branch(size_t node, double x, WorkMeter& meter) const;

  tree::Structure structure_;
  std::span<const int64_t> missing_tracks_true_;
  Scratch<double> splits_, weights_;
  std::vector<std::vector<double>> sets_;
  Scratch<size_t> set_of_node_;  // for nodes of mode kMember
  Scratch<double> x_;
  int64_t rows_ = 0, features_ = 0;
};

}  // namespace tenon
