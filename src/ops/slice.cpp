#include "ops/slice.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "ops/infer.h"

namespace tenon {

SliceRange clamp_slice(int64_t extent, int64_t start, int64_t end, int64_t step) {
  auto clamp = [&](int64_t x, int64_t low, int64_t high) { return std::clamp(x < 0 ? x + extent : x, low, high); };
  SliceRange range;
  range.step = step;
  // A step of the smallest integer moves past every extent, like its neighbour, whose negation exists.
  const int64_t stride = std::max(step, -std::numeric_limits<int64_t>::max());
  if (step > 0) {
    range.start = clamp(start, 0, extent);
    range.count = std::max<int64_t>(0, ceil_div(clamp(end, 0, extent) - range.start, stride));
  } else {
    range.start = clamp(start, 0, std::max<int64_t>(0, extent - 1));
    range.count = extent == 0 ? 0 : std::max<int64_t>(0, ceil_div(range.start - clamp(end, -1, extent - 1), -stride));
  }
  return range;
}

namespace {

struct SliceInputs {
  std::vector<Dim> starts, ends;
  std::vector<int64_t> axes, steps;
};

// An index that may be symbolic, clamped into [0, extent]; nothing when its sign is open.
std::optional<Dim> clamp_bound(const Dim& bound, const Dim& extent) {
  if (bound == extent) return extent;
  if (!bound.is_constant()) return bound.as_symbol() ? std::optional(min(bound, extent)) : std::nullopt;
  if (bound.value() == 0) return bound;
  if (bound.value() < 0) return max(extent + bound, Dim(0));
  return bound.value() >= std::numeric_limits<int32_t>::max() ? extent : min(bound, extent);
}

// The extent of the slice along one axis; nothing when it depends on more than is known.
std::optional<Dim> sliced_extent(const Dim& extent, const Dim& start, const Dim& end, int64_t step) {
  if (extent.is_constant() && start.is_constant() && end.is_constant())
    return Dim(clamp_slice(extent.value(), start.value(), end.value(), step).count);
  if (step <= 0) return std::nullopt;
  auto first = clamp_bound(start, extent), last = clamp_bound(end, extent);
  if (!first || !last) return std::nullopt;
  Dim length = first->equals(0) ? *last : max(*last - *first, Dim(0));
  // Written so that x[1:] and x[:-1] get one expression.
  if (*last == extent && start.is_constant())
    length = start.value() >= 0 ? max(extent - start, Dim(0)) : min(extent, Dim(0) - start);
  if (*last == extent && start.equals(0)) length = extent;
  return ceil_div(length, Dim(step));
}

// Reads and checks the index inputs; nothing when they are not known.
Result<std::optional<SliceInputs>> read_inputs(InferContext& c, int64_t rank) {
  using Read = std::optional<SliceInputs>;
  auto starts = c.values(1), ends = c.values(2);
  if (!starts || !ends) return Read();
  SliceInputs in{std::move(*starts), std::move(*ends), {}, {}};
  const size_t count = in.starts.size();
  if (in.ends.size() != count) return invalid_model("there are {} starts but {} ends", count, in.ends.size());
  if (c.has(3)) {
    auto axes = c.ints(3);
    if (!axes) return Read();
    in.axes = std::move(*axes);
  } else {
    for (size_t i = 0; i < count; ++i) in.axes.push_back(static_cast<int64_t>(i));
  }
  if (c.has(4)) {
    auto steps = c.ints(4);
    if (!steps) return Read();
    in.steps = std::move(*steps);
  } else {
    in.steps.assign(count, 1);
  }
  if (in.axes.size() != count || in.steps.size() != count)
    return invalid_model("there are {} starts, {} axes and {} steps; the numbers must be equal", count, in.axes.size(),
                         in.steps.size());
  TN_RETURN_IF_ERROR(normalize_axes(in.axes, rank).status());
  for (int64_t& axis : in.axes) axis += axis < 0 ? rank : 0;
  if (std::ranges::find(in.steps, 0) != in.steps.end()) return invalid_model("a step must not be 0");
  return Read(std::move(in));
}

void propagate(InferContext& c, const SliceInputs& in) {
  auto known = c.propagated(0);
  if (!known || in.starts.size() != 1 || !in.starts[0].is_constant() || !in.ends[0].is_constant()) return;
  const SliceRange range =
      clamp_slice(static_cast<int64_t>(known->size()), in.starts[0].value(), in.ends[0].value(), in.steps[0]);
  std::vector<Dim> values;
  for (int64_t i = 0; i < range.count; ++i)
    values.push_back((*known)[static_cast<size_t>(range.start + i * range.step)]);
  c.out_values(0, std::move(values));
}

Status infer_slice(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  for (size_t i = 1; i < 5; ++i) TN_RETURN_IF_ERROR(c.expect_tensor(i, kIndex));
  const Shape* shape = c.shape(0);
  if (!shape) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(auto in, read_inputs(c, static_cast<int64_t>(shape->size())));
  if (!in) {
    c.out(0, c.dtype(0), c.fresh_shape(shape->size()));
    return {};
  }
  Shape result = *shape;
  for (size_t i = 0; i < in->axes.size(); ++i) {
    Dim& extent = result[static_cast<size_t>(in->axes[i])];
    auto sliced = sliced_extent(extent, in->starts[i], in->ends[i], in->steps[i]);
    extent = sliced ? *sliced : c.fresh_symbol();
  }
  c.out(0, c.dtype(0), std::move(result));
  if (shape->size() == 1) propagate(c, *in);
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Slice>() {
  return define<NoParams>({.inputs = {3, 5}, .outputs = {1, 1}, .infer = infer_slice});
}

}  // namespace tenon
