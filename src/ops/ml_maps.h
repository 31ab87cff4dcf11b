#pragma once

#include "ops/op.h"

namespace tenon {

struct CastMapParams {
  std::string cast_to = "TO_FLOAT";
  std::string map_form = "DENSE";
  int64_t max_map = 1;  // SPARSE: the number of elements; keys are positions
  void fields(FieldVisitor& v) {
    v.field("cast_to", cast_to);
    v.field("map_form", map_form);
    v.field("max_map", max_map);
  }
};

struct DictVectorizerParams {
  std::vector<int64_t> int64_vocabulary;
  std::vector<std::string> string_vocabulary;
  void fields(FieldVisitor& v) {
    v.field("int64_vocabulary", int64_vocabulary);
    v.field("string_vocabulary", string_vocabulary);
  }
};

struct ZipMapParams {
  std::vector<int64_t> classlabels_int64s;
  std::vector<std::string> classlabels_strings;
  void fields(FieldVisitor& v) {
    v.field("classlabels_int64s", classlabels_int64s);
    v.field("classlabels_strings", classlabels_strings);
  }
};

}  // namespace tenon
