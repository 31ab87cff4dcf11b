#include "providers/reference/tree_walk.h"

#include <algorithm>
#include <cmath>

#include "providers/reference/ml_scores.h"

namespace tenon {

namespace {

constexpr int64_t kUnitsPerBranch = 4;  // nodes lie far from each other in memory

}  // namespace

Result<TreeWalk> TreeWalk::make(KernelContext& c, int64_t targets) {
  TreeWalk walk;
  auto ints = [&](tree::Input i) { return c.has(i) ? c.in(i).as<int64_t>() : std::span<int64_t>(); };
  tree::Structure& s = walk.structure_;
  s.roots = ints(tree::kRoots);
  s.feature_ids = ints(tree::kFeatureIds);
  s.modes = c.in(tree::kModes).as<uint8_t>();
  s.true_ids = ints(tree::kTrueIds);
  s.true_leafs = ints(tree::kTrueLeafs);
  s.false_ids = ints(tree::kFalseIds);
  s.false_leafs = ints(tree::kFalseLeafs);
  s.leaf_targets = ints(tree::kLeafTargets);
  s.leaf_offsets = ints(tree::kLeafOffsets);
  s.leaf_entries = ints(tree::kLeafEntries);
  walk.missing_tracks_true_ = ints(tree::kMissingTracksTrue);
  TN_RETURN_IF_ERROR(walk.read_values(c));
  TN_RETURN_IF_ERROR(tree::check(s, targets, walk.features_));
  return walk;
}

// Values are compared as double, which is exact for all float types.
Status TreeWalk::read_values(KernelContext& c) {
  splits_ = as_doubles(c.in(tree::kSplits));
  weights_ = as_doubles(c.in(tree::kLeafWeights));
  const Scratch<double> members =
      c.has(tree::kMembershipValues) ? as_doubles(c.in(tree::kMembershipValues)) : Scratch<double>();
  TN_ASSIGN_OR_RETURN(sets_, tree::membership_sets(structure_.modes, members));
  size_t next_set = 0;
  for (uint8_t mode : structure_.modes) set_of_node_.push_back(mode == tree::kMember ? next_set++ : 0);

  FeatureMatrix x(c.in(tree::kX));
  rows_ = x.rows;
  features_ = x.features;
  x_ = std::move(x.values);
  // Integers meet float thresholds as floats, as they did when the model was made.
  if (is_integer(c.in(tree::kX).dtype) && c.in(tree::kSplits).dtype != DType::Float64)
    for (double& value : x_) value = static_cast<float>(value);
  return {};
}

size_t TreeWalk::leaf_of(int64_t row, size_t node, WorkMeter& meter) const {
  while (true) {
    meter.spend(kUnitsPerBranch);
    const bool branch =
        structure_.is_only_leaf(node) ||
        takes_true_branch(node, x_[static_cast<size_t>(row * features_ + structure_.feature_ids[node])], meter);
    const auto next = static_cast<size_t>(branch ? structure_.true_ids[node] : structure_.false_ids[node]);
    if (branch ? structure_.true_leafs[node] : structure_.false_leafs[node]) return next;
    node = next;
  }
}

bool TreeWalk::takes_true_branch(size_t node, double x, WorkMeter& meter) const {
  if (std::isnan(x) && !missing_tracks_true_.empty() && missing_tracks_true_[node]) return true;
  const double split = splits_[node];
  switch (structure_.modes[node]) {
    case tree::kLeq:
      return x <= split;
    case tree::kLt:
      return x < split;
    case tree::kGte:
      return x >= split;
    case tree::kGt:
      return x > split;
    case tree::kEq:
      return x == split;
    case tree::kNeq:
      return x != split;
    default: {
      const std::vector<double>& set = sets_[set_of_node_[node]];
      meter.spend(static_cast<int64_t>(set.size()));
      return std::find(set.begin(), set.end(), x) != set.end();
    }
  }
}

}  // namespace tenon
