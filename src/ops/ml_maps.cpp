// Ops between maps and tensors.
#include "ops/ml_maps.h"

#include "ops/ml_rules.h"

namespace tenon {

namespace {

// Checks that input 0 is a map; its key and value types stay Undefined when they are open.
Status expect_map(const InferContext& c, TypeSet keys, TypeSet values, DType& key, DType& value) {
  const Type& type = c.in(0);
  if (type.kind == Type::Kind::Unknown) return {};
  if (type.kind != Type::Kind::Map) return invalid_model("input 0 must be a map, but it is {}", type.to_string());
  key = type.dtype;
  value = type.element ? type.element->dtype : DType::Undefined;
  const bool bad = (key != DType::Undefined && !keys.has(key)) || (value != DType::Undefined && !values.has(value));
  if (bad) return invalid_model("input 0 is {}, a kind of map that this op does not accept", type.to_string());
  return {};
}

Status infer_cast_map(InferContext& c) {
  const auto& p = c.params<CastMapParams>();
  DType key = DType::Undefined, value = DType::Undefined;
  TN_RETURN_IF_ERROR(expect_map(c, {DType::Int64}, {DType::Float32, DType::String}, key, value));
  DType dtype;
  if (p.cast_to == "TO_FLOAT")
    dtype = DType::Float32;
  else if (p.cast_to == "TO_INT64")
    dtype = DType::Int64;
  else if (p.cast_to == "TO_STRING")
    dtype = DType::String;
  else
    return invalid_model("cast_to is '{}'; it must be TO_FLOAT, TO_INT64 or TO_STRING", p.cast_to);
  if (p.map_form != "DENSE" && p.map_form != "SPARSE")
    return invalid_model("map_form is '{}'; it must be DENSE or SPARSE", p.map_form);
  if (p.map_form == "SPARSE" && p.max_map < 1) return invalid_model("max_map is {}; it must be positive", p.max_map);
  c.out(0, dtype, Shape{Dim(1), p.map_form == "SPARSE" ? Dim(p.max_map) : c.fresh_symbol()});
  return {};
}

Status infer_dict_vectorizer(InferContext& c) {
  const auto& p = c.params<DictVectorizerParams>();
  if (p.int64_vocabulary.empty() == p.string_vocabulary.empty())
    return invalid_model("exactly one of int64_vocabulary and string_vocabulary must be given and must not be empty");
  const DType wanted = p.string_vocabulary.empty() ? DType::Int64 : DType::String;
  DType key = DType::Undefined, value = DType::Undefined;
  TN_RETURN_IF_ERROR(
      expect_map(c, {wanted}, {DType::Float32, DType::Float64, DType::Int64, DType::String}, key, value));
  c.out(0, value, Shape{Dim(1), Dim(static_cast<int64_t>(p.int64_vocabulary.size() + p.string_vocabulary.size()))});
  return {};
}

Status infer_zip_map(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, {DType::Float32}));
  const auto& p = c.params<ZipMapParams>();
  if (p.classlabels_int64s.empty() == p.classlabels_strings.empty())
    return invalid_model(
        "exactly one of classlabels_int64s and classlabels_strings must be given and must not be empty");
  TN_ASSIGN_OR_RETURN(auto x, feature_rows(c));
  const size_t labels = p.classlabels_int64s.size() + p.classlabels_strings.size();
  TN_RETURN_IF_ERROR(expect_features(x, Dim(static_cast<int64_t>(labels)), "the class labels"));
  const DType key = p.classlabels_strings.empty() ? DType::Int64 : DType::String;
  c.out(0, Type::sequence(Type::map(key, Type::tensor(DType::Float32, Shape{}))));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::CastMap>() {
  return define<CastMapParams>(
      {.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_cast_map, .decides_output_size = true});
}

template <>
OpDef op_definition<OpId::DictVectorizer>() {
  return define<DictVectorizerParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_dict_vectorizer});
}

template <>
OpDef op_definition<OpId::ZipMap>() {
  return define<ZipMapParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_zip_map});
}

}  // namespace tenon
