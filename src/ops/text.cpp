#include "ops/text.h"

#include <algorithm>

#include "base/text/regex.h"
#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_string_concat(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kStrings));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kStrings));
  if (!c.shape(0) || !c.shape(1)) {
    c.out(0, DType::String, std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(Shape shape, broadcast(*c.shape(0), *c.shape(1)));
  c.out(0, DType::String, std::move(shape));
  return {};
}

Status infer_string_normalizer(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kStrings));
  const std::string& action = c.params<StringNormalizerParams>().case_change_action;
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    return invalid_model("case_change_action is '{}'; it must be 'NONE', 'LOWER' or 'UPPER'", action);
  const Shape* shape = c.shape(0);
  if (!shape) {
    c.out(0, DType::String, std::nullopt);
    return {};
  }
  const bool is_row = shape->size() == 2 && (!(*shape)[0].is_constant() || (*shape)[0].equals(1));
  if (shape->size() != 1 && !is_row)
    return invalid_model("the input must be [C] or [1, C], but it is {}", c.in(0).to_string());
  Shape result = *shape;
  if (is_row) result[0] = Dim(1);
  result.back() = c.fresh_symbol();
  c.out(0, DType::String, std::move(result));
  return {};
}

Status infer_string_split(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kStrings));
  std::optional<Shape> counts = c.shape(0) ? std::optional(*c.shape(0)) : std::nullopt, parts = counts;
  if (parts) parts->push_back(c.fresh_symbol());
  c.out(0, DType::String, std::move(parts));
  c.out(1, DType::Int64, std::move(counts));
  return {};
}

Status infer_regex_full_match(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kStrings));
  auto regex = Regex::compile(c.params<RegexFullMatchParams>().pattern);
  if (!regex.ok()) return std::move(regex).status();
  c.out(0, DType::Bool, c.shape(0) ? std::optional(*c.shape(0)) : std::nullopt);
  return {};
}

// How many n-grams the pool holds; every length's part must be whole.
Result<size_t> count_ngrams(const TfIdfVectorizerParams& p) {
  const int64_t pool = static_cast<int64_t>(p.pool_size());
  int64_t total = 0;
  for (size_t i = 0; i < p.ngram_counts.size(); ++i) {
    const int64_t begin = p.ngram_counts[i], end = i + 1 < p.ngram_counts.size() ? p.ngram_counts[i + 1] : pool;
    const int64_t length = static_cast<int64_t>(i) + 1;
    if (begin < 0 || begin > end || end > pool || (end - begin) % length != 0)
      return invalid_model("the {}-grams cannot occupy elements {} to {} of a pool of {} elements", length, begin, end,
                           pool);
    total += (end - begin) / length;
  }
  return static_cast<size_t>(total);
}

Status check_tfidf(const TfIdfVectorizerParams& p) {
  if (p.mode != "TF" && p.mode != "IDF" && p.mode != "TFIDF")
    return invalid_model("mode is '{}'; it must be 'TF', 'IDF' or 'TFIDF'", p.mode);
  if (p.min_gram_length < 1 || p.max_gram_length < p.min_gram_length || p.max_skip_count < 0)
    return invalid_model("gram lengths from {} to {} with up to {} skips are not valid", p.min_gram_length,
                         p.max_gram_length, p.max_skip_count);
  if (p.max_gram_length > static_cast<int64_t>(p.ngram_counts.size()))
    return invalid_model("max_gram_length is {}, but ngram_counts has {} entries", p.max_gram_length,
                         p.ngram_counts.size());
  if (p.pool_int64s.empty() == p.pool_strings.empty())
    return invalid_model("exactly one of pool_int64s and pool_strings must be given");
  TN_ASSIGN_OR_RETURN(size_t ngrams, count_ngrams(p));
  if (ngrams != p.ngram_indexes.size() || ngrams == 0)
    return invalid_model("the pool has {} n-grams, but ngram_indexes has {} entries", ngrams, p.ngram_indexes.size());
  for (int64_t column : p.ngram_indexes)
    if (column < 0 || column > INT32_MAX)
      return invalid_model("ngram_indexes has the entry {}, which is out of range", column);
  return {};
}

Status infer_tfidf(InferContext& c) {
  const auto& p = c.params<TfIdfVectorizerParams>();
  TN_RETURN_IF_ERROR(check_tfidf(p));
  TN_RETURN_IF_ERROR(c.expect_tensor(0, p.pool_strings.empty() ? kIndex : kStrings));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Float32}));
  TN_RETURN_IF_ERROR(c.expect_rank(1, 1));
  if (c.shape(1) && (*c.shape(1))[0].is_constant() &&
      !(*c.shape(1))[0].equals(static_cast<int64_t>(p.ngram_indexes.size())))
    return invalid_model("there are {} weights for {} n-grams", (*c.shape(1))[0].value(), p.ngram_indexes.size());
  const Dim columns(*std::ranges::max_element(p.ngram_indexes) + 1);
  const Shape* shape = c.shape(0);
  if (!shape) {
    c.out(0, DType::Float32, std::nullopt);
    return {};
  }
  if (shape->size() > 2) return invalid_model("the input must be [C] or [N, C], but it is {}", c.in(0).to_string());
  c.out(0, DType::Float32, shape->size() == 2 ? Shape{(*shape)[0], columns} : Shape{columns});
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::StringConcat>() {
  return define<NoParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_string_concat});
}

template <>
OpDef op_definition<OpId::StringNormalizer>() {
  OpDef def{.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_string_normalizer};
  def.decides_output_size = true;
  return define<StringNormalizerParams>(def);
}

template <>
OpDef op_definition<OpId::StringSplit>() {
  OpDef def{.inputs = {1, 1}, .outputs = {1, 2}, .infer = infer_string_split};
  def.decides_output_size = true;
  return define<StringSplitParams>(def);
}

template <>
OpDef op_definition<OpId::RegexFullMatch>() {
  return define<RegexFullMatchParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_regex_full_match});
}

template <>
OpDef op_definition<OpId::TfIdfVectorizer>() {
  return define<TfIdfVectorizerParams>({.inputs = {1, 2}, .outputs = {1, 1}, .infer = infer_tfidf});
}

}  // namespace tenon
