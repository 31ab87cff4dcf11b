#pragma once

#include <span>

#include "tensor/type.h"

namespace tenon {

// A sum whose length nobody tells, or several in one op.
inline constexpr double kManyTerms = 4096;

// What an op adds to the distance between two correct ways of computing it; tolerances are derived from it. As it
// stands here it is for ops of which nothing is known: several results that are rounded, each a long sum.
struct Rounding {
  double results = 8;         // that are rounded on the way to an element
  double terms = kManyTerms;  // of the sums behind an element
  int quantizations = 0;      // each may end one step beside
  // Instead of `terms`, where the types of the inputs (null: absent) tell.
  double (*count_terms)(std::span<const Type* const> inputs) = nullptr;
};

// The shape of an input, or null.
const Shape* known_shape(std::span<const Type* const> inputs, size_t input);
double count_input_elements(std::span<const Type* const> inputs);

// Every element of a result is one of an operand's, or a whole number or truth value that follows from them.
inline constexpr Rounding kNotRounded{.results = 0, .terms = 0};
// A formula of sums, products, quotients and roots.
inline constexpr Rounding kRoundedArithmetic{.results = 1, .terms = 1};
// A function that machines approximate, each in its own way.
inline constexpr Rounding kRoundedFunction{.results = 2, .terms = 1};
// A sum over elements of the first input, and a function of it.
inline constexpr Rounding kRoundedSum{.results = 2, .count_terms = count_input_elements};
// A sum of as many products as the function says.
constexpr Rounding rounded_products(double (*count_terms)(std::span<const Type* const>)) {
  return {.results = 1, .count_terms = count_terms};
}
// Rounded to steps of a scale.
inline constexpr Rounding kRoundedToSteps{.results = 1, .terms = 1, .quantizations = 1};

}  // namespace tenon
