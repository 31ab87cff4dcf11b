#include "ops/accepted.h"

#include <algorithm>

namespace tenon {

void Accepted::restrict_to(const Accepted& other) {
  const double new_low = std::max(low, other.low), new_high = std::min(high, other.high);
  if (new_low <= new_high) {
    low = new_low;
    high = new_high;
  }
  if (form == Form::Any) form = other.form;
  numeric_text |= other.numeric_text;
  if (words.empty()) words = other.words;
  if (numbers.empty()) numbers = other.numbers;
  for (const auto& [column, accepted] : other.columns) columns[column].restrict_to(accepted);
}

Accepted Accepted::index_into(std::optional<int64_t> extent) {
  return range(0, static_cast<double>(std::max<int64_t>(extent.value_or(1), 1) - 1));
}

Accepted Accepted::count_up_to(std::optional<int64_t> extent) {
  return range(1, static_cast<double>(std::max<int64_t>(extent.value_or(1), 1)));
}

Accepted Accepted::axes_of(std::optional<int64_t> rank) {
  Accepted axes = index_into(rank);
  axes.form = Form::Distinct;
  return axes;
}

std::optional<int64_t> AcceptContext::rank(size_t input) const {
  const Type* t = type(input);
  if (!t || !t->shape) return std::nullopt;
  return static_cast<int64_t>(t->shape->size());
}

std::optional<int64_t> AcceptContext::extent(size_t input, int64_t axis) const {
  const auto r = rank(input);
  if (!r) return std::nullopt;
  if (axis < 0) axis += *r;
  if (axis < 0 || axis >= *r) return std::nullopt;
  return (*type(input)->shape)[static_cast<size_t>(axis)]
      .substitute([&](const std::string& name) -> std::optional<Dim> {
        const auto value = symbol_value(name);
        return value ? std::optional(Dim(*value)) : std::nullopt;
      })
      .constant();
}

bool AcceptContext::is_integer_input(size_t input) const { return type(input) && is_integer(type(input)->dtype); }

Accepted accepts_moved(const AcceptContext& c, size_t) { return c.output(); }

Accepted accepts_first_moved(const AcceptContext& c, size_t input) { return input == 0 ? c.output() : Accepted{}; }

Accepted accepts_moved_along_axes(const AcceptContext& c, size_t input) {
  return input == 0 ? c.output() : accepts_axes(c, input);
}

Accepted accepts_axes(const AcceptContext& c, size_t input) {
  return input == 1 ? Accepted::axes_of(c.rank(0)) : Accepted{};
}

// In the range of the smallest extent, as all indices share one.
Accepted accepts_index_tuples(const AcceptContext& c, int64_t first_axis) {
  std::optional<int64_t> smallest;
  const int64_t tuple = c.extent(1, -1).value_or(1);
  for (int64_t k = 0; k < tuple; ++k) {
    const auto extent = c.extent(0, first_axis + k);
    if (!extent) return Accepted::index_into(std::nullopt);
    smallest = std::min(smallest.value_or(*extent), *extent);
  }
  return Accepted::index_into(smallest);
}

Accepted accepts_gathered(const AcceptContext& c, size_t input, int64_t axis) {
  if (input == 1) return Accepted::index_into(c.extent(0, axis));
  // Where a constant says the column, only this column matters.
  const auto column = c.constant(1);
  const auto rank = c.rank(0);
  if (!column || !rank || (axis < 0 ? axis + *rank : axis) != *rank - 1 || *rank < 2) return c.output();
  const int64_t width = c.extent(0, -1).value_or(0);
  // The model may say anything; what no column is leads to an error when it runs.
  if (!(*column >= static_cast<double>(-width) && *column < static_cast<double>(width))) return c.output();
  const int64_t index = static_cast<int64_t>(*column) + (*column < 0 ? width : 0);
  Accepted inside = c.output();
  inside.columns.clear();
  Accepted accepted;
  accepted.columns.emplace(index, std::move(inside));
  return accepted;
}

}  // namespace tenon
