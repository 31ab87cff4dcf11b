#include "ops/require_shapes.h"

#include <algorithm>

#include "ops/infer.h"

namespace tenon {

Result<Fit> fit_required_shapes(const RequireShapesParams& params, std::span<const Shape* const> shapes) {
  PatternValues values;
  Fit all = Fit::Yes;
  for (size_t i = 0; i < shapes.size(); ++i) {
    TN_ASSIGN_OR_RETURN(const ShapePatterns patterns, parse_shape_patterns(params.required[i]));
    const PatternValues before = values;
    const Fit fit = shapes[i] ? fit_shape(patterns, *shapes[i], values) : Fit::Open;
    if (fit == Fit::No)
      return invalid_model("{} has the shape {}; it must be {}", params.names[i], shape_text(*shapes[i]),
                           pattern_text(patterns, before));
    all = std::min(all, fit);
  }
  return all;
}

namespace {

Result<Shape> parse_given_shape(std::string_view text) {
  TN_ASSIGN_OR_RETURN(const ShapePatterns patterns, parse_shape_patterns(text));
  Shape shape;
  for (const AxisPattern& axis : patterns[0]) {
    if (axis.choices.size() != 1 || !axis.choices[0].wanted.is_constant())
      return invalid_model("the shape '{}' is not known", text);
    shape.push_back(axis.choices[0].wanted);
  }
  return shape;
}

Status infer_require_shapes(InferContext& c) {
  const auto& params = c.params<RequireShapesParams>();
  const size_t count = params.names.size();
  if (params.required.size() != count || params.given.size() != count || c.input_count() > count)
    return invalid_model("{} names have {} shapes and {} that are known, and there are {} inputs", count,
                         params.required.size(), params.given.size(), c.input_count());
  std::vector<Shape> given(count);
  std::vector<const Shape*> shapes(count, nullptr);
  for (size_t i = 0; i < count; ++i) {
    shapes[i] = c.shape(i);
    if (params.given[i].empty()) continue;
    TN_ASSIGN_OR_RETURN(given[i], parse_given_shape(params.given[i]));
    shapes[i] = &given[i];
  }
  return fit_required_shapes(params, shapes).status();
}

}  // namespace

template <>
OpDef op_definition<OpId::RequireShapes>() {
  return define<RequireShapesParams>({.inputs = {0, kVariadic}, .outputs = {0, 0}, .infer = infer_require_shapes});
}

}  // namespace tenon
