#include "onnx/ops/legacy_trees.h"

#include <algorithm>
#include <array>

#include "onnx/ops/ml_attributes.h"
#include "ops/tree_ensemble.h"

namespace tenon {

namespace {

constexpr int64_t kNotALeaf = -1;

// The attributes as they are in the file. Weights have their names from `prefix`: class_ids or target_ids.
struct Table {
  std::vector<int64_t> tree_ids, node_ids, feature_ids, true_ids, false_ids, missing;
  std::vector<std::string> modes;
  std::vector<int64_t> weight_trees, weight_nodes, weight_targets;

  Table(ImportNode& n, const std::string& prefix)
      : tree_ids(n.ints_attribute("nodes_treeids")), node_ids(n.ints_attribute("nodes_nodeids")),
        feature_ids(n.ints_attribute("nodes_featureids")), true_ids(n.ints_attribute("nodes_truenodeids")),
        false_ids(n.ints_attribute("nodes_falsenodeids")), missing(n.ints_attribute("nodes_missing_value_tracks_true")),
        modes(n.strings_attribute("nodes_modes")), weight_trees(n.ints_attribute(prefix + "_treeids")),
        weight_nodes(n.ints_attribute(prefix + "_nodeids")), weight_targets(n.ints_attribute(prefix + "_ids")) {}

  size_t size() const { return modes.size(); }

  Status check_lengths() const {
    const std::array<std::pair<const char*, size_t>, 5> lengths = {{{"nodes_treeids", tree_ids.size()},
                                                                    {"nodes_nodeids", node_ids.size()},
                                                                    {"nodes_featureids", feature_ids.size()},
                                                                    {"nodes_truenodeids", true_ids.size()},
                                                                    {"nodes_falsenodeids", false_ids.size()}}};
    for (const auto& [name, length] : lengths)
      if (length != size()) return invalid_model("{} has {} elements, but nodes_modes has {}", name, length, size());
    if (weight_trees.size() != weight_targets.size() || weight_nodes.size() != weight_targets.size())
      return invalid_model("the weights have {} tree ids, {} node ids and {} targets; the numbers must be equal",
                           weight_trees.size(), weight_nodes.size(), weight_targets.size());
    return {};
  }
};

// Rows by (tree id, node id).
class RowIndex {
 public:
  explicit RowIndex(const Table& table) {
    for (size_t i = 0; i < table.size(); ++i) rows_.push_back({table.tree_ids[i], table.node_ids[i], i});
    std::sort(rows_.begin(), rows_.end());
  }
  Status check_unique() const {
    for (size_t i = 1; i < rows_.size(); ++i)
      if (rows_[i].tree == rows_[i - 1].tree && rows_[i].node == rows_[i - 1].node)
        return invalid_model("node {} of tree {} occurs twice", rows_[i].node, rows_[i].tree);
    return {};
  }
  std::optional<size_t> find(int64_t tree, int64_t node) const {
    auto it = std::lower_bound(rows_.begin(), rows_.end(), Row{tree, node, 0});
    if (it == rows_.end() || it->tree != tree || it->node != node) return std::nullopt;
    return it->position;
  }

 private:
  struct Row {
    int64_t tree, node;
    size_t position;
    auto operator<=>(const Row&) const = default;
  };
  std::vector<Row> rows_;
};

// The same trees with rows and leaves found by position.
struct Positions {
  std::vector<uint8_t> modes;
  std::vector<int64_t> roots, true_ids, true_leafs, false_ids, false_leafs, leaf_offsets, leaf_entries;
};

Result<std::vector<uint8_t>> parse_modes(const std::vector<std::string>& names) {
  constexpr std::array<std::pair<std::string_view, tree::Mode>, 7> known = {{{"BRANCH_LEQ", tree::kLeq},
                                                                             {"BRANCH_LT", tree::kLt},
                                                                             {"BRANCH_GTE", tree::kGte},
                                                                             {"BRANCH_GT", tree::kGt},
                                                                             {"BRANCH_EQ", tree::kEq},
                                                                             {"BRANCH_NEQ", tree::kNeq},
                                                                             {"LEAF", tree::kLeaf}}};
  std::vector<uint8_t> modes;
  for (const std::string& name : names) {
    auto it = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.first == name; });
    if (it == known.end())
      return invalid_model("nodes_modes[{}] is '{}', which is not a valid mode", modes.size(), name);
    modes.push_back(it->second);
  }
  return modes;
}

// Leaves are numbered in the order of their rows. Each keeps its weights in the order of the file; but where there is
// one target, a leaf has one weight, and converters rely on the first one being taken.
Status place_leaves(const Table& table, const RowIndex& index, int64_t targets, std::vector<int64_t>& leaf_of_row,
                    Positions& p) {
  leaf_of_row.assign(table.size(), kNotALeaf);
  size_t leaves = 0;
  for (size_t row = 0; row < table.size(); ++row)
    if (p.modes[row] == tree::kLeaf) leaf_of_row[row] = static_cast<int64_t>(leaves++);
  std::vector<std::vector<int64_t>> entries(leaves);
  for (size_t e = 0; e < table.weight_targets.size(); ++e) {
    const auto row = index.find(table.weight_trees[e], table.weight_nodes[e]);
    if (!row)
      return invalid_model("weight {} is for node {} of tree {}, which does not exist", e, table.weight_nodes[e],
                           table.weight_trees[e]);
    // Old converters also wrote weights of inner nodes; they never count.
    if (p.modes[*row] != tree::kLeaf) continue;
    auto& own = entries[static_cast<size_t>(leaf_of_row[*row])];
    if (targets > 1 || own.empty()) own.push_back(static_cast<int64_t>(e));
  }
  p.leaf_offsets.push_back(0);
  for (const auto& own : entries) {
    p.leaf_entries.insert(p.leaf_entries.end(), own.begin(), own.end());
    p.leaf_offsets.push_back(static_cast<int64_t>(p.leaf_entries.size()));
  }
  return {};
}

// Turns one branch of a row into a position, and notes that something leads there.
Status place_branch(const Table& table, const RowIndex& index, const std::vector<int64_t>& leaf_of_row, size_t row,
                    int64_t node_id, int64_t& id, int64_t& is_leaf, std::vector<bool>& reached) {
  const auto target = index.find(table.tree_ids[row], node_id);
  if (!target)
    return invalid_model("node {} of tree {} leads to node {}, which does not exist", table.node_ids[row],
                         table.tree_ids[row], node_id);
  reached[*target] = true;
  is_leaf = leaf_of_row[*target] != kNotALeaf;
  id = is_leaf ? leaf_of_row[*target] : static_cast<int64_t>(*target);
  return {};
}

// The one row of each tree that nothing leads to, in the order in which trees appear.
Status find_roots(const Table& table, const std::vector<bool>& reached, std::vector<int64_t>& roots) {
  std::vector<std::pair<int64_t, int64_t>> first_rows;  // tree id, first row
  for (size_t row = 0; row < table.size(); ++row) first_rows.emplace_back(table.tree_ids[row], row);
  std::stable_sort(first_rows.begin(), first_rows.end(), [](auto& a, auto& b) { return a.first < b.first; });
  std::vector<std::pair<int64_t, int64_t>> found;  // first row of the tree, its root
  for (size_t i = 0; i < first_rows.size();) {
    const auto [tree, first] = first_rows[i];
    std::optional<int64_t> root;
    for (; i < first_rows.size() && first_rows[i].first == tree; ++i) {
      const int64_t row = first_rows[i].second;
      if (reached[static_cast<size_t>(row)]) continue;
      if (root)
        return invalid_model("tree {} has several roots: no node leads to node {} nor to node {}", tree,
                             table.node_ids[static_cast<size_t>(*root)], table.node_ids[static_cast<size_t>(row)]);
      root = row;
    }
    if (!root) return invalid_model("tree {} has no root: its nodes form a cycle", tree);
    found.emplace_back(first, *root);
  }
  std::sort(found.begin(), found.end());
  for (const auto& [first, root] : found) roots.push_back(root);
  return {};
}

Result<Positions> place(const Table& table, int64_t targets) {
  TN_RETURN_IF_ERROR(table.check_lengths());
  Positions p;
  TN_ASSIGN_OR_RETURN(p.modes, parse_modes(table.modes));
  const RowIndex index(table);
  TN_RETURN_IF_ERROR(index.check_unique());
  std::vector<int64_t> leaf_of_row;
  TN_RETURN_IF_ERROR(place_leaves(table, index, targets, leaf_of_row, p));
  p.true_ids = p.false_ids = leaf_of_row;  // a leaf's row leads to its leaf, whatever comes
  p.true_leafs.assign(table.size(), 1);
  p.false_leafs.assign(table.size(), 1);
  std::vector<bool> reached(table.size(), false);
  for (size_t row = 0; row < table.size(); ++row) {
    if (p.modes[row] == tree::kLeaf) continue;
    TN_RETURN_IF_ERROR(
        place_branch(table, index, leaf_of_row, row, table.true_ids[row], p.true_ids[row], p.true_leafs[row], reached));
    TN_RETURN_IF_ERROR(place_branch(table, index, leaf_of_row, row, table.false_ids[row], p.false_ids[row],
                                    p.false_leafs[row], reached));
  }
  TN_RETURN_IF_ERROR(find_roots(table, reached, p.roots));
  return p;
}

// A list of floats, or of doubles under the name with "_as_tensor".
ValueId value_weight(ImportNode& n, const std::string& name) {
  const std::vector<float> floats = n.floats_attribute(name);
  const std::string tensor_name = name + "_as_tensor";
  const Tensor tensor = n.tensor_attribute(tensor_name);
  const bool has_tensor = tensor.defined() && tensor.size() > 0;
  if (!floats.empty() && has_tensor) n.fail(invalid_model("{} and {} must not both be given", name, tensor_name));
  if (has_tensor) return n.attribute_weight(tensor_name, tensor.reshaped({tensor.size()}));
  if (floats.empty()) n.absent_weight(tensor_name);
  return float_weight(n, name.c_str());
}

Status check_placed(const Table& table, const Positions& p, int64_t targets) {
  tree::Structure s;
  s.roots = p.roots;
  s.feature_ids = table.feature_ids;
  s.modes = p.modes;
  s.true_ids = p.true_ids;
  s.true_leafs = p.true_leafs;
  s.false_ids = p.false_ids;
  s.false_leafs = p.false_leafs;
  s.leaf_targets = table.weight_targets;
  s.leaf_offsets = p.leaf_offsets;
  s.leaf_entries = p.leaf_entries;
  return tree::check(s, targets, std::nullopt);
}

// Every input of the ensemble; empty after an error.
std::vector<ValueId> ensemble_inputs(ImportNode& n, const std::string& prefix, int64_t targets) {
  n.ignore_attribute("nodes_hitrates");
  n.ignore_attribute("nodes_hitrates_as_tensor");
  const Table table(n, prefix);
  auto placed = place(table, targets);
  if (!placed.ok()) return n.fail(std::move(placed).status()), std::vector<ValueId>();
  n.fail(check_placed(table, *placed, targets));

  std::vector<ValueId> inputs(tree::kInputCount, kNone);
  inputs[tree::kX] = n.input(0);
  inputs[tree::kRoots] = n.int_constant(placed->roots);
  inputs[tree::kFeatureIds] = n.attribute_weight("nodes_featureids", Tensor::of_ints(table.feature_ids));
  inputs[tree::kModes] = n.constant(
      Tensor::of<uint8_t>({static_cast<int64_t>(placed->modes.size())}, std::span<const uint8_t>(placed->modes)));
  inputs[tree::kSplits] = value_weight(n, "nodes_values");
  inputs[tree::kTrueIds] = n.int_constant(placed->true_ids);
  inputs[tree::kTrueLeafs] = n.int_constant(placed->true_leafs);
  inputs[tree::kFalseIds] = n.int_constant(placed->false_ids);
  inputs[tree::kFalseLeafs] = n.int_constant(placed->false_leafs);
  inputs[tree::kLeafTargets] = n.attribute_weight(prefix + "_ids", Tensor::of_ints(table.weight_targets));
  inputs[tree::kLeafWeights] = value_weight(n, prefix + "_weights");
  constexpr const char* missing = "nodes_missing_value_tracks_true";
  inputs[tree::kMissingTracksTrue] = table.missing.empty()
                                         ? n.absent_weight(missing, DType::Int64)
                                         : n.attribute_weight(missing, Tensor::of_ints(table.missing));
  inputs[tree::kBaseValues] = value_weight(n, "base_values");
  inputs[tree::kLeafOffsets] = n.int_constant(placed->leaf_offsets);
  inputs[tree::kLeafEntries] = n.int_constant(placed->leaf_entries);
  return inputs;
}

Result<int64_t> parse_aggregate(std::string_view name) {
  constexpr std::string_view names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  for (size_t i = 0; i < std::size(names); ++i)
    if (name == names[i]) return static_cast<int64_t>(i);
  return invalid_model("aggregate_function is '{}'; it must be AVERAGE, SUM, MIN or MAX", name);
}

}  // namespace

void import_tree_ensemble_regressor(ImportNode& n) {
  const auto aggregate = parse_aggregate(n.string_attribute("aggregate_function", "SUM"));
  const auto transform = parse_post_transform(n.string_attribute("post_transform", "NONE"));
  if (!aggregate.ok()) return n.fail(aggregate.status());
  if (!transform.ok()) return n.fail(transform.status());
  const TreeEnsembleParams params{*aggregate, n.int_attribute("n_targets", 1), static_cast<int64_t>(*transform),
                                  DType::Float32};
  if (params.n_targets < 1) return n.fail(invalid_model("n_targets is {}; it must be positive", params.n_targets));
  std::vector<ValueId> inputs = ensemble_inputs(n, "target", params.n_targets);
  if (n.status().ok()) n.finish(n.emit(OpId::TreeEnsemble, Params::of(params), std::move(inputs)));
}

void import_tree_ensemble_classifier(ImportNode& n) {
  auto params = n.read_params<TreeEnsembleClassifierParams>();
  const auto classes = static_cast<int64_t>(params.labels.size());
  std::vector<ValueId> inputs = ensemble_inputs(n, "class", classes);
  if (n.status().ok())
    n.finish(n.emit(OpId::TreeEnsembleClassifier, Params::of(std::move(params)), std::move(inputs), 2));
}

}  // namespace tenon
