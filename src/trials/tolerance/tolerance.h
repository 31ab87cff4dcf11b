#pragma once

#include <optional>

#include "ir/graph.h"
#include "tensor/compare.h"

namespace tenon {

// How far a value may be from the reference's, by what computes it.
struct ValueTolerance {
  double share = 0;  // of the largest expected number, and of each one; 0: floating-point numbers must be equal
  double steps = 0;  // of integers
  // The value that it holds indices into, along an axis, as an ArgMax, ArgMin or TopK chose them.
  struct Choice {
    ValueId from = kNone;
    int64_t axis = 0;
    double share = 0;  // elements that are equal within this share of the largest one may change places
  };
  std::optional<Choice> choice;
};

ValueTolerance tolerance_of(const Graph& graph, ValueId value);

struct JudgedComparison {
  Comparison comparison;
  int64_t ties = 0;  // indices that differ for no other reason than a tie
};

// `chosen_from`: the reference's elements of tolerance.choice->from, or null.
JudgedComparison compare_within(const ValueTolerance& tolerance, const Value& actual, const Value& expected,
                                const Tensor* chosen_from);

}  // namespace tenon
