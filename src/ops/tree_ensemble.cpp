#include "ops/tree_ensemble.h"

namespace tenon {

namespace {

Status check_types(const InferContext& c) {
  constexpr TypeSet floats{DType::Float16, DType::Float32, DType::Float64};
  for (size_t i = tree::kRoots; i < c.input_count(); ++i) {
    const bool is_value =
        i == tree::kSplits || i == tree::kLeafWeights || i == tree::kMembershipValues || i == tree::kBaseValues;
    const TypeSet allowed = is_value ? floats : i == tree::kModes ? TypeSet{DType::UInt8} : TypeSet{DType::Int64};
    Status status = c.expect_tensor(i, allowed);
    if (status.ok()) status = c.expect_rank(i, 1);
    if (!status.ok()) return std::move(status).in(tree::kInputNames[i]);
  }
  return {};
}

// Arrays that belong together have one length.
Status check_lengths(const InferContext& c, tree::Input of, std::initializer_list<tree::Input> others) {
  const auto length = known_length(c, of);
  for (tree::Input i : others) {
    const auto own = known_length(c, i);
    if (length && own && c.has(i) && *own != *length)
      return invalid_model("{} has {} elements, but {} has {}", tree::kInputNames[i], *own, tree::kInputNames[of],
                           *length);
  }
  return {};
}

Status check_ensemble(InferContext& c, std::optional<FeatureRows>& x) {
  TN_ASSIGN_OR_RETURN(x, feature_rows(c));
  TN_RETURN_IF_ERROR(check_types(c));
  TN_RETURN_IF_ERROR(check_lengths(c, tree::kModes,
                                   {tree::kFeatureIds, tree::kSplits, tree::kTrueIds, tree::kTrueLeafs, tree::kFalseIds,
                                    tree::kFalseLeafs, tree::kMissingTracksTrue}));
  TN_RETURN_IF_ERROR(check_lengths(c, tree::kLeafTargets, {tree::kLeafWeights}));
  if (c.has(tree::kLeafOffsets) != c.has(tree::kLeafEntries))
    return invalid_model("leaf_offsets and leaf_entries must be given together");
  if (c.has(tree::kLeafOffsets) && known_length(c, tree::kLeafOffsets) == 0)
    return invalid_model("leaf_offsets is empty");
  return {};
}

Status infer_tree_ensemble(InferContext& c) {
  const auto& p = c.params<TreeEnsembleParams>();
  if (p.n_targets < 1) return invalid_model("n_targets is {}; it must be positive", p.n_targets);
  if (p.aggregate_function < tree::kAverage || p.aggregate_function > tree::kMax)
    return invalid_model("aggregate_function is {}; it must be 0 (AVERAGE), 1 (SUM), 2 (MIN) or 3 (MAX)",
                         p.aggregate_function);
  if (p.post_transform < 0 || p.post_transform > static_cast<int64_t>(PostTransform::Probit))
    return invalid_model("post_transform is {}; it must be from 0 to 4", p.post_transform);
  std::optional<FeatureRows> x;
  TN_RETURN_IF_ERROR(check_ensemble(c, x));
  if (c.has(tree::kBaseValues)) TN_RETURN_IF_ERROR(expect_length(c, tree::kBaseValues, "base_values", p.n_targets));
  out_rows(c, 0, p.output == DType::Undefined ? c.dtype(0) : p.output, x, Dim(p.n_targets));
  return {};
}

Status infer_tree_ensemble_classifier(InferContext& c) {
  const auto& p = c.params<TreeEnsembleClassifierParams>();
  TN_RETURN_IF_ERROR(parse_post_transform(p.post_transform).status());
  TN_RETURN_IF_ERROR(p.labels.check());
  const int64_t classes = static_cast<int64_t>(p.labels.size());
  if (classes == 0) return invalid_model("classlabels_int64s or classlabels_strings must be given");
  std::optional<FeatureRows> x;
  TN_RETURN_IF_ERROR(check_ensemble(c, x));
  // Two classes may share one base value.
  if (c.has(tree::kBaseValues) && !(classes == 2 && known_length(c, tree::kBaseValues) == 1))
    TN_RETURN_IF_ERROR(expect_length(c, tree::kBaseValues, "base_values", classes));
  out_classes(c, p.labels.dtype(), x, Dim(classes));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::TreeEnsemble>() {
  return define<TreeEnsembleParams>(
      {.inputs = {tree::kMissingTracksTrue, tree::kInputCount}, .outputs = {1, 1}, .infer = infer_tree_ensemble});
}

template <>
OpDef op_definition<OpId::TreeEnsembleClassifier>() {
  return define<TreeEnsembleClassifierParams>({.inputs = {tree::kMissingTracksTrue, tree::kInputCount},
                                               .outputs = {1, 2},
                                               .infer = infer_tree_ensemble_classifier});
}

}  // namespace tenon
