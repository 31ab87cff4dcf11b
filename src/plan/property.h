#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace tenon {

// What can be asked of a constant. A plan depends on the answers and on nothing else of its weights, so each is as weak
// as the one who asks can do with.
struct Property {
  enum class Kind : uint8_t {
    Elements,     // all of them; the answer is their hash
    Pinned,       // the same, because the user wants them kept
    Literal,      // the same, of a constant that the model has no name for
    AllZero,      // the others are answered by yes or no
    AllEqual,     // to each other
    AllPositive,  // above zero
    EqualTo,      // each element to `low`
    InRange,      // each element from `low` to `high`
  };
  Kind kind = Kind::Elements;
  double low = 0, high = 0;

  static Property equal_to(double value) { return {Kind::EqualTo, value, value}; }
  static Property in_range(double low, double high) { return {Kind::InRange, low, high}; }
  // Whether new weights with the property need the same elements.
  bool is_about_elements() const { return kind <= Kind::Literal; }
  friend bool operator==(const Property&, const Property&) = default;
};

enum class Answer : uint8_t { No, Yes, Unknown };

// As plans store it: "elements", "all zero", "equal to 1", "in range 0 6". Numbers are read back as they were.
std::string property_text(const Property& property);
std::optional<Property> property_from_text(std::string_view text);
// "yes", "no", or "" for one that is not known.
std::string answer_text(Answer answer);

// Of properties with yes or no. Unknown for strings and complex numbers. A NaN is not zero, equal, positive or in
// range.
Answer ask(const Tensor& tensor, const Property& property);

}  // namespace tenon
