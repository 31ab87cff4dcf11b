#pragma once

#include "ops/op.h"

namespace tenon {

// Cuts each string into tokens: at separators, or where an expression matches.
struct TokenizerParams {
  bool mark = false;  // tokens of a string between \x02 and \x03
  std::string pad_value;
  int64_t mincharnum = 1;  // shorter tokens are dropped
  std::vector<std::string> separators;
  std::string tokenexp;
  void fields(FieldVisitor& v) {
    v.field("mark", mark);
    v.field("pad_value", pad_value);
    v.field("mincharnum", mincharnum);
    v.field("separators", separators);
    v.field("tokenexp", tokenexp);
  }
  // Every character is a token.
  bool by_character() const { return tokenexp == "." || (separators.size() == 1 && separators[0].empty()); }
};

}  // namespace tenon
