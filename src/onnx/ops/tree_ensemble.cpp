#include "ops/tree_ensemble.h"

#include "onnx/node_draft.h"
#include "onnx/ops/legacy_trees.h"

namespace tenon {

namespace {

Tensor required_tensor(ImportNode& n, const char* name, TypeSet allowed) {
  const Tensor tensor = n.tensor_attribute(name);
  if (!tensor.defined())
    n.fail(invalid_model("the attribute '{}' is missing", name));
  else if (!allowed.has(tensor.dtype()))
    n.fail(invalid_model("{} is {}; the allowed types are {}", name, dtype_name(tensor.dtype()), allowed.to_string()));
  return tensor.reshaped({tensor.size()});
}

// The integer lists that every node has, by input.
struct NodeLists {
  std::vector<int64_t> feature_ids, true_ids, true_leafs, false_ids, false_leafs;
};

Status check_same_length(const char* name, size_t length, size_t nodes) {
  if (length == nodes) return {};
  return invalid_model("{} has {} elements, but nodes_modes has {}", name, length, nodes);
}

Status check_structure(const NodeLists& lists, const Tensor& modes, const std::vector<int64_t>& roots,
                       const std::vector<int64_t>& targets, int64_t target_count) {
  const auto nodes = static_cast<size_t>(modes.size());
  TN_RETURN_IF_ERROR(check_same_length("nodes_featureids", lists.feature_ids.size(), nodes));
  TN_RETURN_IF_ERROR(check_same_length("nodes_truenodeids", lists.true_ids.size(), nodes));
  TN_RETURN_IF_ERROR(check_same_length("nodes_trueleafs", lists.true_leafs.size(), nodes));
  TN_RETURN_IF_ERROR(check_same_length("nodes_falsenodeids", lists.false_ids.size(), nodes));
  TN_RETURN_IF_ERROR(check_same_length("nodes_falseleafs", lists.false_leafs.size(), nodes));
  tree::Structure structure;
  structure.roots = roots;
  structure.feature_ids = lists.feature_ids;
  structure.modes = modes.as<uint8_t>();
  structure.true_ids = lists.true_ids;
  structure.true_leafs = lists.true_leafs;
  structure.false_ids = lists.false_ids;
  structure.false_leafs = lists.false_leafs;
  structure.leaf_targets = targets;
  return tree::check(structure, target_count, std::nullopt);
}

ValueId int_weight(ImportNode& n, const char* name, const std::vector<int64_t>& values) {
  return n.attribute_weight(name, Tensor::of_ints(values));
}

void import_tree_ensemble(ImportNode& n) {
  constexpr TypeSet floats{DType::Float16, DType::Float32, DType::Float64};
  n.ignore_attribute("nodes_hitrates");
  TreeEnsembleParams params;
  params.aggregate_function = n.int_attribute("aggregate_function", params.aggregate_function);
  params.n_targets = n.int_attribute("n_targets", params.n_targets);
  params.post_transform = n.int_attribute("post_transform", params.post_transform);
  if (params.n_targets < 1) return n.fail(invalid_model("n_targets is {}; it must be positive", params.n_targets));

  const Tensor modes = required_tensor(n, "nodes_modes", {DType::UInt8});
  const Tensor splits = required_tensor(n, "nodes_splits", floats);
  const Tensor weights = required_tensor(n, "leaf_weights", floats);
  const NodeLists lists{n.ints_attribute("nodes_featureids"), n.ints_attribute("nodes_truenodeids"),
                        n.ints_attribute("nodes_trueleafs"), n.ints_attribute("nodes_falsenodeids"),
                        n.ints_attribute("nodes_falseleafs")};
  const std::vector<int64_t> roots = n.ints_attribute("tree_roots"), targets = n.ints_attribute("leaf_targetids");
  const std::vector<int64_t> missing = n.ints_attribute("nodes_missing_value_tracks_true");
  if (!n.status().ok()) return;
  n.fail(check_structure(lists, modes, roots, targets, params.n_targets));

  std::vector<ValueId> inputs(tree::kInputCount, kNone);
  inputs[tree::kX] = n.input(0);
  inputs[tree::kRoots] = int_weight(n, "tree_roots", roots);
  inputs[tree::kFeatureIds] = int_weight(n, "nodes_featureids", lists.feature_ids);
  inputs[tree::kModes] = n.attribute_weight("nodes_modes", modes);
  inputs[tree::kSplits] = n.attribute_weight("nodes_splits", splits);
  inputs[tree::kTrueIds] = int_weight(n, "nodes_truenodeids", lists.true_ids);
  inputs[tree::kTrueLeafs] = int_weight(n, "nodes_trueleafs", lists.true_leafs);
  inputs[tree::kFalseIds] = int_weight(n, "nodes_falsenodeids", lists.false_ids);
  inputs[tree::kFalseLeafs] = int_weight(n, "nodes_falseleafs", lists.false_leafs);
  inputs[tree::kLeafTargets] = int_weight(n, "leaf_targetids", targets);
  inputs[tree::kLeafWeights] = n.attribute_weight("leaf_weights", weights);
  inputs[tree::kMissingTracksTrue] = missing.empty() ? n.absent_weight("nodes_missing_value_tracks_true", DType::Int64)
                                                     : int_weight(n, "nodes_missing_value_tracks_true", missing);
  inputs[tree::kMembershipValues] =
      n.has_attribute("membership_values")
          ? n.attribute_weight("membership_values", required_tensor(n, "membership_values", floats))
          : n.absent_weight("membership_values");
  n.finish(n.emit(OpId::TreeEnsemble, Params::of(params), std::move(inputs)));
}

bool write_tree_ensemble(NodeDraft& d) {
  using Kind = AttributeInput::Kind;
  d.remove("output");
  for (size_t i : {tree::kRoots, tree::kFeatureIds, tree::kTrueIds, tree::kTrueLeafs, tree::kFalseIds,
                   tree::kFalseLeafs, tree::kLeafTargets, tree::kMissingTracksTrue})
    if (!d.move_to_attribute({i, tree::kInputNames[i]})) return false;
  for (size_t i : {tree::kModes, tree::kSplits, tree::kLeafWeights, tree::kMembershipValues})
    if (!d.move_to_attribute({i, tree::kInputNames[i], Kind::Tensor})) return false;
  return true;
}

}  // namespace

template <>
void onnx_mapping<OpId::TreeEnsemble>(OnnxMap& map) {
  map.custom(kMlDomain, "TreeEnsemble", OpId::TreeEnsemble, import_tree_ensemble);
  map.custom(kMlDomain, "TreeEnsembleRegressor", OpId::TreeEnsemble, import_tree_ensemble_regressor);
  map.way_back(OpId::TreeEnsemble, kMlDomain, "TreeEnsemble", write_tree_ensemble);
  map.way_back(OpId::TreeEnsemble, kMlDomain, "TreeEnsembleRegressor", write_tree_ensemble_regressor);
}

template <>
void onnx_mapping<OpId::TreeEnsembleClassifier>(OnnxMap& map) {
  map.custom(kMlDomain, "TreeEnsembleClassifier", OpId::TreeEnsembleClassifier, import_tree_ensemble_classifier);
  map.least_outputs(OpId::TreeEnsembleClassifier, 2);
  map.way_back(OpId::TreeEnsembleClassifier, kMlDomain, "TreeEnsembleClassifier", write_tree_ensemble_classifier);
}

}  // namespace tenon
