#pragma once

#include "ops/op.h"

namespace tenon {

struct StringNormalizerParams {
  std::string case_change_action = "NONE";  // NONE, LOWER, UPPER
  bool is_case_sensitive = false;
  std::string locale;  // without effect: case follows Unicode
  std::vector<std::string> stopwords;
  void fields(FieldVisitor& v) {
    v.field("case_change_action", case_change_action);
    v.field("is_case_sensitive", is_case_sensitive);
    v.field("locale", locale);
    v.field("stopwords", stopwords);
  }
};

struct StringSplitParams {
  std::string delimiter;  // empty: runs of white space
  std::optional<int64_t> maxsplit;
  void fields(FieldVisitor& v) {
    v.field("delimiter", delimiter);
    v.field("maxsplit", maxsplit);
  }
};

struct RegexFullMatchParams {
  std::string pattern;
  void fields(FieldVisitor& v) { v.field("pattern", pattern); }
};

struct TfIdfVectorizerParams {
  std::string mode;  // TF, IDF, TFIDF
  int64_t min_gram_length = 1, max_gram_length = 1, max_skip_count = 0;
  std::vector<int64_t> ngram_counts;   // where in the pool the n-grams of each length begin
  std::vector<int64_t> ngram_indexes;  // the output column of each n-gram
  std::vector<int64_t> pool_int64s;
  std::vector<std::string> pool_strings;
  void fields(FieldVisitor& v) {
    v.field("mode", mode);
    v.field("min_gram_length", min_gram_length);
    v.field("max_gram_length", max_gram_length);
    v.field("max_skip_count", max_skip_count);
    v.field("ngram_counts", ngram_counts);
    v.field("ngram_indexes", ngram_indexes);
    v.field("pool_int64s", pool_int64s);
    v.field("pool_strings", pool_strings);
  }
  size_t pool_size() const { return pool_int64s.empty() ? pool_strings.size() : pool_int64s.size(); }
};

}  // namespace tenon
