#include <algorithm>
#include <array>

#include "onnx/node_draft.h"
#include "onnx/ops/legacy_trees.h"
#include "ops/tree_ensemble.h"

namespace tenon {

namespace {

constexpr const char* kModeNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};

// The integer inputs of an ensemble.
struct Ensemble {
  std::vector<int64_t> roots, true_ids, true_leafs, false_ids, false_leafs, leaf_offsets, leaf_entries;
  std::vector<uint8_t> modes;
  size_t weight_count = 0;

  static std::optional<Ensemble> of(const NodeDraft& d) {
    Ensemble e;
    bool complete = true;
    const auto read = [&](size_t input, auto& list) {
      const auto tensor = d.constant(input);
      complete = complete && tensor.has_value();
      if (!tensor) return;
      using T = typename std::decay_t<decltype(list)>::value_type;
      list.assign(tensor->as<T>().begin(), tensor->as<T>().end());
    };
    read(tree::kRoots, e.roots);
    read(tree::kModes, e.modes);
    read(tree::kTrueIds, e.true_ids);
    read(tree::kTrueLeafs, e.true_leafs);
    read(tree::kFalseIds, e.false_ids);
    read(tree::kFalseLeafs, e.false_leafs);
    read(tree::kLeafOffsets, e.leaf_offsets);
    read(tree::kLeafEntries, e.leaf_entries);
    if (const auto targets = d.constant(tree::kLeafTargets)) e.weight_count = static_cast<size_t>(targets->size());
    return complete ? std::optional(std::move(e)) : std::nullopt;
  }
};

// Rows by tree and node: the number of a row is its node id, so every id is that of a row.
struct TreeTable {
  std::vector<int64_t> tree_ids, node_ids, true_ids, false_ids;
  std::vector<std::string> modes;
  std::vector<int64_t> weight_trees, weight_nodes;
};

// The row of each leaf. A row of mode kLeaf leads to its leaf, whatever comes.
std::vector<int64_t> rows_of_leaves(const Ensemble& e) {
  std::vector<int64_t> rows(e.leaf_offsets.size() - 1, 0);
  for (size_t row = 0; row < e.modes.size(); ++row)
    if (e.modes[row] == tree::kLeaf) rows[static_cast<size_t>(e.true_ids[row])] = static_cast<int64_t>(row);
  return rows;
}

void number_trees(const Ensemble& e, TreeTable& table) {
  table.tree_ids.assign(e.modes.size(), 0);
  for (size_t tree = 0; tree < e.roots.size(); ++tree) {
    std::vector<int64_t> open{e.roots[tree]};
    while (!open.empty()) {
      const auto row = static_cast<size_t>(open.back());
      open.pop_back();
      table.tree_ids[row] = static_cast<int64_t>(tree);
      if (e.modes[row] == tree::kLeaf) continue;
      open.insert(open.end(), {table.true_ids[row], table.false_ids[row]});
    }
  }
}

// Weights that no leaf has are those of an inner node, which never count.
void place_weights(const Ensemble& e, const std::vector<int64_t>& leaf_rows, TreeTable& table) {
  const auto inner = std::ranges::find_if(e.modes, [](uint8_t mode) { return mode != tree::kLeaf; });
  table.weight_nodes.assign(e.weight_count, inner == e.modes.end() ? 0 : inner - e.modes.begin());
  for (size_t leaf = 0; leaf < leaf_rows.size(); ++leaf)
    for (int64_t i = e.leaf_offsets[leaf]; i < e.leaf_offsets[leaf + 1]; ++i)
      table.weight_nodes[static_cast<size_t>(e.leaf_entries[static_cast<size_t>(i)])] = leaf_rows[leaf];
  for (int64_t row : table.weight_nodes) table.weight_trees.push_back(table.tree_ids[static_cast<size_t>(row)]);
}

std::optional<TreeTable> table_of(const Ensemble& e) {
  TreeTable table;
  const std::vector<int64_t> leaf_rows = rows_of_leaves(e);
  const auto row_of = [&](int64_t id, int64_t is_leaf) { return is_leaf ? leaf_rows[static_cast<size_t>(id)] : id; };
  for (size_t row = 0; row < e.modes.size(); ++row) {
    const bool is_leaf = e.modes[row] == tree::kLeaf;
    if (e.modes[row] == tree::kMember) return std::nullopt;
    table.node_ids.push_back(static_cast<int64_t>(row));
    table.modes.emplace_back(is_leaf ? "LEAF" : kModeNames[e.modes[row]]);
    table.true_ids.push_back(is_leaf ? 0 : row_of(e.true_ids[row], e.true_leafs[row]));
    table.false_ids.push_back(is_leaf ? 0 : row_of(e.false_ids[row], e.false_leafs[row]));
  }
  number_trees(e, table);
  place_weights(e, leaf_rows, table);
  return table;
}

// Floats, or doubles under the name with "_as_tensor".
bool move_values(NodeDraft& d, size_t input, const std::string& name) {
  const auto tensor = d.constant(input);
  if (tensor && tensor->dtype() == DType::Float64)
    return d.move_to_attribute({input, name + "_as_tensor", AttributeInput::Kind::Tensor});
  return d.move_to_attribute({input, name, AttributeInput::Kind::Floats});
}

bool write_ensemble(NodeDraft& d, const std::string& prefix) {
  const auto ensemble = Ensemble::of(d);
  const auto table = ensemble ? table_of(*ensemble) : std::nullopt;
  if (!table) return false;
  d.set_ints("nodes_treeids", table->tree_ids);
  d.set_ints("nodes_nodeids", table->node_ids);
  d.set_ints("nodes_truenodeids", table->true_ids);
  d.set_ints("nodes_falsenodeids", table->false_ids);
  d.set_strings("nodes_modes", table->modes);
  d.set_ints(prefix + "_treeids", table->weight_trees);
  d.set_ints(prefix + "_nodeids", table->weight_nodes);
  const bool moved = d.move_to_attribute({tree::kFeatureIds, "nodes_featureids"}) &&
                     d.move_to_attribute({tree::kLeafTargets, prefix + "_ids"}) &&
                     d.move_to_attribute({tree::kMissingTracksTrue, "nodes_missing_value_tracks_true"}) &&
                     move_values(d, tree::kSplits, "nodes_values") &&
                     move_values(d, tree::kLeafWeights, prefix + "_weights") &&
                     move_values(d, tree::kBaseValues, "base_values");
  d.inputs.resize(1);
  return moved;
}

}  // namespace

bool write_tree_ensemble_regressor(NodeDraft& d) {
  constexpr std::array aggregates = {"AVERAGE", "SUM", "MIN", "MAX"};
  constexpr std::array transforms = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const auto& params = d.params<TreeEnsembleParams>();
  const auto aggregate = static_cast<size_t>(params.aggregate_function);
  const auto transform = static_cast<size_t>(params.post_transform);
  if (aggregate >= aggregates.size() || transform >= transforms.size()) return false;
  d.attributes.clear();
  d.set_int("n_targets", params.n_targets);
  d.set_string("aggregate_function", aggregates[aggregate]);
  d.set_string("post_transform", transforms[transform]);
  return write_ensemble(d, "target");
}

bool write_tree_ensemble_classifier(NodeDraft& d) { return write_ensemble(d, "class"); }

}  // namespace tenon
