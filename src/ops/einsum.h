#pragma once

#include <span>

#include "ops/op.h"

namespace tenon {

struct EinsumParams {
  std::string equation;
  void fields(FieldVisitor& v) { v.field("equation", equation); }
};

// An equation applied to operands of known ranks. Every axis has a label: a number below 'label_count' that stands for
// a letter or for one of the axes behind an ellipsis.
struct EinsumLabels {
  std::vector<std::vector<size_t>> operands;
  std::vector<size_t> output;
  size_t label_count = 0;
};

// One error for each way an equation can be wrong: characters, ellipses, ranks, output labels.
Result<EinsumLabels> parse_einsum(const std::string& equation, std::span<const size_t> ranks);

}  // namespace tenon
