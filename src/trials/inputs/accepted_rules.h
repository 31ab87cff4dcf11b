#pragma once

#include <algorithm>

#include "trials/inputs/accepted_values.h"

// The rules of single ops, by what their inputs mean. Nothing when an op is not of that kind.
namespace tenon {

std::optional<Accepted> accepted_as_number(const ConsumerView& c, size_t i);
std::optional<Accepted> accepted_as_index(const ConsumerView& c, size_t i);
std::optional<Accepted> accepted_as_shape(const ConsumerView& c, size_t i);

// Index into `extent` things; the first one is there even if nothing is known.
inline Accepted index_into(std::optional<int64_t> extent) {
  return Accepted::range(0, static_cast<double>(std::max<int64_t>(extent.value_or(1), 1) - 1));
}
// A count from 1 to `extent`.
inline Accepted count_up_to(std::optional<int64_t> extent) {
  return Accepted::range(1, static_cast<double>(std::max<int64_t>(extent.value_or(1), 1)));
}
inline Accepted axes_of(std::optional<int64_t> rank) {
  Accepted axes = index_into(rank);
  axes.form = Accepted::Form::Distinct;
  return axes;
}
// The elements of the input reach the output as they are, only elsewhere.
inline Accepted moved(const ConsumerView& c) { return c.output(); }
inline bool is_integer_input(const ConsumerView& c, size_t i) { return c.type(i) && is_integer(c.type(i)->dtype); }

}  // namespace tenon
