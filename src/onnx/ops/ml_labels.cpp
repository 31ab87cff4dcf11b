#include "ops/ml_labels.h"

#include <algorithm>

#include "onnx/node_draft.h"

namespace tenon {

namespace {

template <class T>
Tensor list_tensor(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<int64_t>(values.size())}, std::span<const T>(values));
}
template <class T>
Tensor scalar_tensor(const T& value) {
  return Tensor::of<T>({1}, std::span<const T>(&value, 1));
}

void emit_encoder(ImportNode& n, Tensor keys, Tensor values, Tensor fallback) {
  LabelEncoderParams params{std::move(keys), std::move(values), std::move(fallback)};
  n.finish(n.emit(OpId::LabelEncoder, Params::of(std::move(params)), {n.input(0)}));
}

// Strings to their integers, or the other way, as the input's type tells.
void emit_both_ways(ImportNode& n, std::vector<std::string> strings, std::vector<int64_t> ints) {
  const std::string default_string = n.string_attribute("default_string", "_Unused");
  const int64_t default_int = n.int_attribute("default_int64", -1);
  // The last of equal keys counts here; the encoder takes the first.
  std::reverse(strings.begin(), strings.end());
  std::reverse(ints.begin(), ints.end());
  switch (n.type(n.input(0)).dtype) {
    case DType::String:
      return emit_encoder(n, list_tensor(strings), list_tensor(ints), scalar_tensor(default_int));
    case DType::Int64:
      return emit_encoder(n, list_tensor(ints), list_tensor(strings), scalar_tensor(default_string));
    case DType::Undefined:
      return n.fail(unsupported("the type of the input must be known to choose the direction of the mapping"));
    default:
      return n.fail(invalid_model("X is {}; it must be string or int64", dtype_name(n.type(n.input(0)).dtype)));
  }
}

void import_category_mapper(ImportNode& n) {
  std::vector<std::string> strings = n.strings_attribute("cats_strings");
  std::vector<int64_t> ints = n.ints_attribute("cats_int64s");
  if (strings.size() != ints.size())
    return n.fail(invalid_model("cats_strings has {} elements, but cats_int64s has {}", strings.size(), ints.size()));
  emit_both_ways(n, std::move(strings), std::move(ints));
}

// Keys or values: whichever of the typed attributes is given.
Tensor typed_list(ImportNode& n, const std::string& prefix) {
  std::vector<Tensor> given;
  if (n.has_attribute(prefix + "_strings")) given.push_back(list_tensor(n.strings_attribute(prefix + "_strings")));
  if (n.has_attribute(prefix + "_int64s")) given.push_back(list_tensor(n.ints_attribute(prefix + "_int64s")));
  if (n.has_attribute(prefix + "_floats")) given.push_back(list_tensor(n.floats_attribute(prefix + "_floats")));
  if (n.has_attribute(prefix + "_tensor")) given.push_back(n.tensor_attribute(prefix + "_tensor"));
  // Some writers list all of them and leave the others empty.
  if (given.size() > 1) std::erase_if(given, [](const Tensor& t) { return t.size() == 0; });
  if (given.size() == 1) return given[0];
  n.fail(invalid_model("exactly one of the {}_* attributes must be given, but there are {}", prefix, given.size()));
  return {};
}

Tensor default_value(ImportNode& n, DType dtype) {
  const std::string string = n.string_attribute("default_string", "_Unused");
  const int64_t integer = n.int_attribute("default_int64", -1);
  const float real = n.float_attribute("default_float", -0.0f);
  if (const Tensor given = n.tensor_attribute("default_tensor"); given.defined()) return given;
  switch (dtype) {
    case DType::String:
      return scalar_tensor(string);
    case DType::Int64:
      return scalar_tensor(integer);
    case DType::Int32:
      return scalar_tensor<int32_t>(-1);
    case DType::Int16:
      return scalar_tensor<int16_t>(-1);
    case DType::Float64:
      return scalar_tensor<double>(-0.0);
    default:
      return scalar_tensor(real);
  }
}

// Version 1 maps strings to their positions and back; later ones have lists of keys and values.
void import_label_encoder(ImportNode& n) {
  if (n.version() < 2) {
    std::vector<std::string> classes = n.strings_attribute("classes_strings");
    std::vector<int64_t> positions;
    for (size_t i = 0; i < classes.size(); ++i) positions.push_back(static_cast<int64_t>(i));
    return emit_both_ways(n, std::move(classes), std::move(positions));
  }
  const Tensor keys = typed_list(n, "keys"), values = typed_list(n, "values");
  emit_encoder(n, keys, values, default_value(n, values.dtype()));
}

template <class T>
std::vector<T> elements(const Tensor& tensor, bool backwards = false) {
  std::vector<T> list(tensor.as<T>().begin(), tensor.as<T>().end());
  if (backwards) std::reverse(list.begin(), list.end());
  return list;
}

// Keys, values or the default by the attribute of their type. Tensors came with version 4.
bool set_typed(NodeDraft& d, const std::string& prefix, const Tensor& tensor, bool is_list) {
  d.remove(prefix + "_tensor");
  switch (tensor.dtype()) {
    case DType::String:
      if (is_list)
        d.set_strings(prefix + "_strings", elements<std::string>(tensor));
      else
        d.set_string(prefix + "_string", tensor.as<std::string>()[0]);
      return true;
    case DType::Int64:
      if (is_list)
        d.set_ints(prefix + "_int64s", tensor.as<int64_t>());
      else
        d.set_int(prefix + "_int64", tensor.as<int64_t>()[0]);
      return true;
    case DType::Float32:
      if (is_list)
        d.set_floats(prefix + "_floats", tensor.as<float>());
      else
        d.set_float(prefix + "_float", tensor.as<float>()[0]);
      return true;
    default:
      d.set_tensor(prefix + "_tensor", tensor);
      return d.version >= 4;
  }
}

bool write_label_encoder(NodeDraft& d) {
  const auto& params = d.params<LabelEncoderParams>();
  return d.version >= 2 && params.default_tensor.size() == 1 && set_typed(d, "keys", params.keys_tensor, true) &&
         set_typed(d, "values", params.values_tensor, true) && set_typed(d, "default", params.default_tensor, false);
}

// A mapping between strings and integers, with the last of equal keys first.
bool set_both_ways(NodeDraft& d, const char* strings, const char* ints) {
  const auto& params = d.params<LabelEncoderParams>();
  const bool from_strings = params.keys_tensor.dtype() == DType::String;
  const Tensor& words = from_strings ? params.keys_tensor : params.values_tensor;
  const Tensor& numbers = from_strings ? params.values_tensor : params.keys_tensor;
  if (words.dtype() != DType::String || numbers.dtype() != DType::Int64 || params.default_tensor.size() != 1)
    return false;
  d.attributes.clear();
  d.set_strings(strings, elements<std::string>(words, true));
  if (ints) d.set_ints(ints, elements<int64_t>(numbers, true));
  return set_typed(d, "default", params.default_tensor, false);
}

bool write_category_mapper(NodeDraft& d) { return set_both_ways(d, "cats_strings", "cats_int64s"); }
bool write_first_label_encoder(NodeDraft& d) { return d.version < 2 && set_both_ways(d, "classes_strings", nullptr); }

}  // namespace

template <>
void onnx_mapping<OpId::LabelEncoder>(OnnxMap& map) {
  map.custom(kMlDomain, "LabelEncoder", OpId::LabelEncoder, import_label_encoder);
  map.custom(kMlDomain, "CategoryMapper", OpId::LabelEncoder, import_category_mapper);
  map.way_back(OpId::LabelEncoder, kMlDomain, "LabelEncoder", write_label_encoder);
  map.way_back(OpId::LabelEncoder, kMlDomain, "LabelEncoder", write_first_label_encoder);
  map.way_back(OpId::LabelEncoder, kMlDomain, "CategoryMapper", write_category_mapper);
}

template <>
void onnx_mapping<OpId::OneHotEncoder>(OnnxMap& map) {
  map.same(kMlDomain, "OneHotEncoder", OpId::OneHotEncoder);
}

}  // namespace tenon
