#pragma once

#include <span>

#include "ops/ml_rules.h"

namespace tenon {

// Inputs of TreeEnsemble and TreeEnsembleClassifier, by position.
//
// Node i compares feature nodes_featureids[i] by nodes_modes[i] with nodes_splits[i] (or its set of membership_values)
// and goes on to nodes_truenodeids[i] or nodes_falsenodeids[i]: a leaf where nodes_trueleafs[i] or nodes_falseleafs[i]
// is set, else a node. A node whose two branches are the same leaf compares nothing. Branches may meet again in one
// node, but never lead back.
// Leaf l adds leaf_weights[e] to target leaf_targetids[e] for every entry e in leaf_entries[leaf_offsets[l] ..
// leaf_offsets[l + 1]); without these two inputs it has the one entry l.
namespace tree {
enum Input : size_t {
  kX,
  kRoots,
  kFeatureIds,
  kModes,
  kSplits,
  kTrueIds,
  kTrueLeafs,
  kFalseIds,
  kFalseLeafs,
  kLeafTargets,
  kLeafWeights,
  kMissingTracksTrue,  // may be absent, as may all that follow
  kMembershipValues,
  kBaseValues,
  kLeafOffsets,
  kLeafEntries,
  kInputCount,
};
constexpr const char* kInputNames[] = {
    "X",
    "tree_roots",
    "nodes_featureids",
    "nodes_modes",
    "nodes_splits",
    "nodes_truenodeids",
    "nodes_trueleafs",
    "nodes_falsenodeids",
    "nodes_falseleafs",
    "leaf_targetids",
    "leaf_weights",
    "nodes_missing_value_tracks_true",
    "membership_values",
    "base_values",
    "leaf_offsets",
    "leaf_entries",
};

enum Mode : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };
enum Aggregate : int64_t { kAverage, kSum, kMin, kMax };

// The integer arrays of an ensemble.
struct Structure {
  std::span<const int64_t> roots, feature_ids;
  std::span<const uint8_t> modes;
  std::span<const int64_t> true_ids, true_leafs, false_ids, false_leafs;
  std::span<const int64_t> leaf_targets;
  std::span<const int64_t> leaf_offsets, leaf_entries;  // empty: one entry per leaf

  size_t node_count() const { return modes.size(); }
  size_t leaf_count() const { return leaf_offsets.empty() ? leaf_targets.size() : leaf_offsets.size() - 1; }
  bool is_only_leaf(size_t node) const {
    return true_leafs[node] && false_leafs[node] && true_ids[node] == false_ids[node];
  }
};

// An error for the first index that leads nowhere and for the first cycle. All arrays of nodes have one length.
// features: how many X has; nothing when that is not known yet.
Status check(const Structure& s, int64_t targets, std::optional<int64_t> features);

// The set of each node of mode kMember, in the order of nodes: the values between NaNs.
Result<std::vector<std::vector<double>>> membership_sets(std::span<const uint8_t> modes,
                                                         std::span<const double> values);
}  // namespace tree

struct TreeEnsembleParams {
  int64_t aggregate_function = tree::kSum;
  int64_t n_targets = 0;
  int64_t post_transform = 0;
  DType output = DType::Undefined;  // Undefined: that of X
  void fields(FieldVisitor& v) {
    v.field("aggregate_function", aggregate_function);
    v.field("n_targets", n_targets);
    v.field("post_transform", post_transform);
    v.field("output", output);
  }
};

struct TreeEnsembleClassifierParams {
  ClassLabels labels;
  std::string post_transform = "NONE";
  void fields(FieldVisitor& v) {
    v.field("classlabels_int64s", labels.ints);
    v.field("classlabels_strings", labels.strings);
    v.field("post_transform", post_transform);
  }
};

}  // namespace tenon
