#include "cli/same_inputs.h"

#include <fmt/format.h>

#include "cli/failure.h"

namespace cli {

namespace {

[[noreturn]] void missing(const NamedModel& has, size_t input, const NamedModel& lacks) {
  throw Failure(kFailed,
                fmt::format("the models have different inputs: {} has no input '{}', but {} has one ({})", lacks.path,
                            has.model.input_name(input), has.path, has.model.input_type(input).text()));
}

// The extents the input will have, -1 where the first model leaves it open.
std::vector<int64_t> planned(const tenon::Model& model, size_t input, const ShapeFlags& shapes) {
  if (const auto whole = shapes.extents(model, input)) return *whole;
  const tenon::TypeView type = model.input_type(input);
  std::vector<int64_t> extents = *type.dims();
  for (size_t i = 0; i < extents.size(); ++i)
    if (auto it = shapes.dims().find(type.dim_name(i)); extents[i] < 0 && it != shapes.dims().end())
      extents[i] = it->second;
  return extents;
}

void check_type(const NamedModel& first, size_t i, const NamedModel& second, size_t j, ShapeFlags& shapes) {
  const tenon::TypeView a = first.model.input_type(i), b = second.model.input_type(j);
  const std::string name = first.model.input_name(i);
  const auto differ = [&](const std::string& what_to_do) {
    throw Failure(kFailed, fmt::format("the models have different inputs: '{}' is {} in {} but {} in {}{}", name,
                                       a.text(), first.path, b.text(), second.path, what_to_do));
  };
  if (a.kind() != b.kind() || (a.dtype() != b.dtype() && a.dtype() != TN_UNDEFINED && b.dtype() != TN_UNDEFINED))
    differ("");
  if (a.kind() != TN_KIND_TENSOR || !a.dims() || !b.dims()) return;
  const std::vector<int64_t> extents = planned(first.model, i, shapes), wanted = *b.dims();
  if (extents.size() != wanted.size()) differ("");
  for (size_t d = 0; d < extents.size(); ++d) {
    if (wanted[d] < 0 || extents[d] == wanted[d]) continue;
    const bool open = extents[d] < 0;
    if (!open || a.dim_name(d).empty()) differ(open ? fmt::format("; choose its shape with --shape {}=...", name) : "");
    shapes.set_dim(a.dim_name(d), wanted[d]);
    if (shapes.dims().at(a.dim_name(d)) != wanted[d]) differ("");  // it was set for an axis before
  }
}

}  // namespace

void check_same_inputs(const NamedModel& first, const NamedModel& second, ShapeFlags& shapes) {
  for (size_t i = 0; i < first.model.input_count(); ++i) {
    const auto j = find_input(second.model, first.model.input_name(i));
    if (j)
      check_type(first, i, second, *j, shapes);
    else if (!first.model.input_has_default(i))
      missing(first, i, second);
  }
  for (size_t j = 0; j < second.model.input_count(); ++j)
    if (!find_input(first.model, second.model.input_name(j)) && !second.model.input_has_default(j))
      missing(second, j, first);
}

}  // namespace cli
