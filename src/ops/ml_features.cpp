// Ops that prepare features: select, scale, fill in.
#include "ops/ml_features.h"

#include "ops/ml_rules.h"

namespace tenon {

namespace {

Status infer_array_feature_extractor(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kMlNumbers | kStrings));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  if (!c.shape(0)) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  Shape shape = *c.shape(0);
  if (shape.empty()) return invalid_model("X must have a feature axis, but it is a scalar");
  if (shape.size() == 1) shape.insert(shape.begin(), Dim(1));
  shape.back() = c.shape(1) ? element_count(*c.shape(1)) : c.fresh_symbol();
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

// Rows side by side, each input cut or padded to its declared number of features.
Status infer_feature_vectorizer(InferContext& c) {
  const auto& dimensions = c.params<FeatureVectorizerParams>().inputdimensions;
  if (!dimensions.empty() && dimensions.size() != c.input_count())
    return invalid_model("inputdimensions has {} elements, but there are {} inputs", dimensions.size(),
                         c.input_count());
  Dim rows, columns(0);
  bool known_rows = false;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has(i)) return invalid_model("input {} is missing", i);
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kMlNumbers));
    if (!dimensions.empty() && dimensions[i] < 0)
      return invalid_model("inputdimensions[{}] is {}; it must not be negative", i, dimensions[i]);
    const Shape* shape = c.shape(i);
    if (shape && shape->empty()) return invalid_model("input {} must have a feature axis, but it is a scalar", i);
    if (shape) {
      const Dim own = shape->size() == 1 ? Dim(1) : (*shape)[0];
      if (known_rows && own.is_constant() && rows.is_constant() && !(own == rows))
        return invalid_model("input {} has {} rows, but input 0 has {}", i, own.value(), rows.value());
      if (!known_rows || own.is_constant()) rows = own;
      known_rows = true;
    }
    if (!dimensions.empty())
      columns = columns + Dim(dimensions[i]);
    else if (shape)
      columns = columns + element_count(shape->size() == 1 ? *shape : Shape(shape->begin() + 1, shape->end()));
    else
      columns = c.fresh_symbol();
  }
  c.out(0, DType::Float32, Shape{known_rows ? rows : c.fresh_symbol(), columns});
  return {};
}

// One value for all features, or one each.
Status expect_one_or_per_feature(const InferContext& c, size_t input, const char* name) {
  if (!c.has(input)) return {};
  TN_RETURN_IF_ERROR(c.expect_rank(input, 1));
  const auto length = known_length(c, input);
  if (!length || *length == 1 || !c.shape(0)) return {};
  if (c.shape(0)->empty()) return invalid_model("X must have a feature axis, but it is a scalar");
  const Dim& features = c.shape(0)->back();
  if (features.is_constant() && features.value() != *length)
    return invalid_model("{} has {} elements for {} features; it must have one element or one per feature", name,
                         *length, features.value());
  return {};
}

Status infer_imputer(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kMlNumbers));
  const bool is_integer_input = is_integer(c.dtype(0));
  if (c.dtype(0) != DType::Undefined)
    TN_RETURN_IF_ERROR(c.expect_tensor(1, {is_integer_input ? DType::Int64 : DType::Float32}));
  TN_RETURN_IF_ERROR(expect_one_or_per_feature(c, 1, "the list of imputed values"));
  c.out(0, c.in(0));
  return {};
}

Status infer_scaler(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kMlNumbers));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Float32}));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, {DType::Float32}));
  TN_RETURN_IF_ERROR(expect_one_or_per_feature(c, 1, "offset"));
  TN_RETURN_IF_ERROR(expect_one_or_per_feature(c, 2, "scale"));
  c.out(0, DType::Float32, c.in(0).shape);
  return {};
}

Status infer_normalizer(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kMlNumbers));
  const std::string& norm = c.params<NormalizerParams>().norm;
  if (norm != "MAX" && norm != "L1" && norm != "L2")
    return invalid_model("norm is '{}'; it must be MAX, L1 or L2", norm);
  TN_ASSIGN_OR_RETURN(auto rows, feature_rows(c));
  c.out(0, DType::Float32, rows ? c.in(0).shape : std::nullopt);
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::ArrayFeatureExtractor>() {
  return define<NoParams>(
      {.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_array_feature_extractor, .can_fail = true});
}

template <>
OpDef op_definition<OpId::Binarizer>() {
  return define<BinarizerParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = [](InferContext& c) {
                                    return infer_same_as_input(c, kMlNumbers);
                                  }});
}

template <>
OpDef op_definition<OpId::FeatureVectorizer>() {
  return define<FeatureVectorizerParams>(
      {.inputs = {1, kVariadic}, .outputs = {1, 1}, .infer = infer_feature_vectorizer});
}

template <>
OpDef op_definition<OpId::Imputer>() {
  return define<ImputerParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_imputer, .can_fail = true});
}

template <>
OpDef op_definition<OpId::Normalizer>() {
  return define<NormalizerParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_normalizer});
}

template <>
OpDef op_definition<OpId::Scaler>() {
  return define<NoParams>({.inputs = {1, 3}, .outputs = {1, 1}, .infer = infer_scaler, .can_fail = true});
}

}  // namespace tenon
