#include <cmath>

#include "ops/tree_ensemble.h"

namespace tenon::tree {

namespace {

Status check_index(const char* name, size_t at, int64_t value, size_t limit, const char* of) {
  if (value >= 0 && static_cast<size_t>(value) < limit) return {};
  return invalid_model("{}[{}] is {}, which is out of range: there are {} {}", name, at, value, limit, of);
}

Status check_branch(const Structure& s, size_t node, const char* name, int64_t id, bool is_leaf) {
  return check_index(name, node, id, is_leaf ? s.leaf_count() : s.node_count(), is_leaf ? "leaves" : "nodes");
}

Status check_leaves(const Structure& s, int64_t targets) {
  for (size_t i = 0; i < s.leaf_targets.size(); ++i)
    TN_RETURN_IF_ERROR(check_index("leaf_targetids", i, s.leaf_targets[i], static_cast<size_t>(targets), "targets"));
  for (size_t i = 0; i < s.leaf_entries.size(); ++i)
    TN_RETURN_IF_ERROR(check_index("leaf_entries", i, s.leaf_entries[i], s.leaf_targets.size(), "weights"));
  for (size_t i = 0; i < s.leaf_offsets.size(); ++i) {
    TN_RETURN_IF_ERROR(check_index("leaf_offsets", i, s.leaf_offsets[i], s.leaf_entries.size() + 1, "positions"));
    if (i > 0 && s.leaf_offsets[i] < s.leaf_offsets[i - 1])
      return invalid_model("leaf_offsets[{}] is smaller than the offset before it", i);
  }
  return {};
}

Status check_nodes(const Structure& s, std::optional<int64_t> features) {
  for (size_t i = 0; i < s.node_count(); ++i) {
    TN_RETURN_IF_ERROR(check_branch(s, i, "nodes_truenodeids", s.true_ids[i], s.true_leafs[i] != 0));
    TN_RETURN_IF_ERROR(check_branch(s, i, "nodes_falsenodeids", s.false_ids[i], s.false_leafs[i] != 0));
    if (s.is_only_leaf(i)) continue;
    if (s.modes[i] > kMember) return invalid_model("nodes_modes[{}] is {}, which is not a comparison", i, s.modes[i]);
    if (s.feature_ids[i] < 0 || (features && s.feature_ids[i] >= *features))
      return invalid_model("nodes_featureids[{}] is {}; X has {} features", i, s.feature_ids[i],
                           features ? std::to_string(*features) : "no negative");
  }
  return {};
}

// Depth first from every node, without recursion: a branch to a node that is still open closes a cycle. Also nodes that
// no root leads to: a cycle among them means that the roots were meant otherwise.
Status check_acyclic(const Structure& s) {
  enum State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> state(s.node_count(), kNew);
  std::vector<std::pair<size_t, int>> path;  // node, branches already taken
  for (size_t start = 0; start < s.node_count(); ++start) {
    path.emplace_back(start, 0);
    while (!path.empty()) {
      auto& [node, taken] = path.back();
      if (taken == 0 && state[node] == kDone) {
        path.pop_back();
        continue;
      }
      state[node] = kOpen;
      if (taken == 2) {
        state[node] = kDone;
        path.pop_back();
        continue;
      }
      const bool is_true = taken++ == 0;
      if (is_true ? s.true_leafs[node] : s.false_leafs[node]) continue;
      const size_t next = static_cast<size_t>(is_true ? s.true_ids[node] : s.false_ids[node]);
      if (state[next] == kOpen) return invalid_model("the tree has a cycle: node {} leads back to node {}", node, next);
      if (state[next] == kNew) path.emplace_back(next, 0);
    }
  }
  return {};
}

}  // namespace

Status check(const Structure& s, int64_t targets, std::optional<int64_t> features) {
  for (size_t i = 0; i < s.roots.size(); ++i)
    TN_RETURN_IF_ERROR(check_index("tree_roots", i, s.roots[i], s.node_count(), "nodes"));
  TN_RETURN_IF_ERROR(check_leaves(s, targets));
  TN_RETURN_IF_ERROR(check_nodes(s, features));
  return check_acyclic(s);
}

Result<std::vector<std::vector<double>>> membership_sets(std::span<const uint8_t> modes,
                                                         std::span<const double> values) {
  std::vector<std::vector<double>> sets;
  size_t at = 0;
  for (size_t node = 0; node < modes.size(); ++node) {
    if (modes[node] != kMember) continue;
    if (at >= values.size())
      return invalid_model("membership_values has {} sets, but node {} needs another one", sets.size(), node);
    sets.emplace_back();
    for (; at < values.size() && !std::isnan(values[at]); ++at) sets.back().push_back(values[at]);
    ++at;
  }
  if (at < values.size())
    return invalid_model("membership_values has more sets than the {} that the nodes use", sets.size());
  return sets;
}

}  // namespace tenon::tree
