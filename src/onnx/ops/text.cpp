#include "onnx/onnx_map.h"

namespace tenon {

namespace {

void import_tfidf(ImportNode& n) {
  Params params = n.read_params(OpId::TfIdfVectorizer);
  std::vector<ValueId> inputs{n.input(0)};
  if (n.has_attribute("weights")) {
    const auto weights = n.floats_attribute("weights");
    inputs.push_back(n.attribute_weight("weights", Tensor::of<float>({static_cast<int64_t>(weights.size())}, weights)));
  } else {
    n.absent_weight("weights");
  }
  n.finish(n.emit(OpId::TfIdfVectorizer, std::move(params), std::move(inputs)));
}

}  // namespace

template <>
void onnx_mapping<OpId::StringConcat>(OnnxMap& map) {
  map.same(kOnnxDomain, "StringConcat", OpId::StringConcat);
}

template <>
void onnx_mapping<OpId::StringNormalizer>(OnnxMap& map) {
  map.same(kOnnxDomain, "StringNormalizer", OpId::StringNormalizer);
}

template <>
void onnx_mapping<OpId::StringSplit>(OnnxMap& map) {
  map.same(kOnnxDomain, "StringSplit", OpId::StringSplit);
}

template <>
void onnx_mapping<OpId::RegexFullMatch>(OnnxMap& map) {
  map.same(kOnnxDomain, "RegexFullMatch", OpId::RegexFullMatch);
}

template <>
void onnx_mapping<OpId::TfIdfVectorizer>(OnnxMap& map) {
  map.custom(kOnnxDomain, "TfIdfVectorizer", OpId::TfIdfVectorizer, import_tfidf)
      .needs("max_gram_length", 9)
      .needs("max_skip_count", 9)
      .needs("min_gram_length", 9)
      .needs("mode", 9)
      .needs("ngram_counts", 9)
      .needs("ngram_indexes", 9);
  map.attribute_inputs(OpId::TfIdfVectorizer, {{1, "weights", AttributeInput::Kind::Floats}});
}

}  // namespace tenon
