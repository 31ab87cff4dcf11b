#include "providers/cpu/transposed_conv_shape.h"

#include <algorithm>

#include "base/checked_math.h"

namespace tenon {

namespace {

constexpr int64_t kMostGroups = 4096, kMostTransposedTaps = 1 << 16;

// A tap of one axis in the phase that it belongs to.
struct AxisTap {
  int64_t tap = 0, shift = 0;
};

// The taps of every phase of an axis.
std::vector<std::vector<AxisTap>> taps_by_phase(const WindowAxis& axis, int64_t phases) {
  std::vector<std::vector<AxisTap>> taps(static_cast<size_t>(phases));
  for (int64_t t = 0; t < axis.kernel; ++t) {
    const int64_t reach = t * axis.dilation, phase = floor_mod(reach - axis.pad_begin, axis.stride);
    if (phase < phases)
      taps[static_cast<size_t>(phase)].push_back({t, (phase + axis.pad_begin) / axis.stride - reach / axis.stride});
  }
  return taps;
}

using PhaseTaps = std::array<std::vector<std::vector<AxisTap>>, 3>;

// The products of a group whose phases and positions are known.
void add_products(const TransposedConvShape& shape, const PhaseTaps& taps, PhaseGroup& group) {
  const auto of_phase = [&](size_t axis, int64_t phase) -> const std::vector<AxisTap>& {
    return taps[axis][static_cast<size_t>(phase)];
  };
  // Columns of all phases by their shift, so that each source is listed once.
  std::vector<std::pair<AxisTap, int64_t>> columns;
  for (int64_t phase = 0; phase < group.phases; ++phase)
    for (const AxisTap& x : of_phase(2, group.phase[2] + phase)) columns.emplace_back(x, phase);
  std::ranges::stable_sort(columns, {}, [](const auto& column) { return column.first.shift; });
  for (const AxisTap& z : of_phase(0, group.phase[0]))
    for (const AxisTap& y : of_phase(1, group.phase[1]))
      for (size_t i = 0; i < columns.size(); ++i) {
        const auto& [x, phase] = columns[i];
        if (i == 0 || columns[i - 1].first.shift != x.shift) group.sources.push_back({{z.shift, y.shift, x.shift}});
        const int64_t tap = (z.tap * shape.window[1].kernel + y.tap) * shape.window[2].kernel + x.tap;
        group.products.push_back({group.sources.size() - 1, phase, tap});
      }
}

}  // namespace

int64_t TransposedConvShape::positions(size_t axis, int64_t phase) const {
  return ceil_div(out[axis] - phase, window[axis].stride);
}

Result<TransposedConvShape> TransposedConvShape::of(Dims x, Dims y, const PackedConvTransposeParams& params) {
  const Shape input = to_shape(x.subspan(2));
  TN_ASSIGN_OR_RETURN(const auto transposed, transposed_window(params.conv, input, params.conv.window.kernel_shape));
  return TransposedConvShape(x, y, transposed.window, params.conv.group, params.output_channels);
}

Result<std::vector<PhaseGroup>> phase_groups(const TransposedConvShape& shape, int64_t most_phases) {
  std::array<int64_t, 3> phases;
  for (size_t i = 0; i < 3; ++i) phases[i] = std::min(shape.window[i].stride, shape.out[i]);
  const int64_t column_groups = ceil_div(phases[2], most_phases), wanted[] = {phases[0], phases[1], column_groups};
  const auto count = checked_product(wanted);
  if (!count || *count > kMostGroups)
    return error(Code::Unsupported, "its strides give more than {} groups of output positions", kMostGroups);
  if (shape.taps > kMostTransposedTaps)
    return error(Code::Unsupported, "its window has {} positions; this kernel takes at most {}", shape.taps,
                 kMostTransposedTaps);
  PhaseTaps taps;
  for (size_t i = 0; i < 3; ++i) taps[i] = taps_by_phase(shape.window[i], phases[i]);
  std::vector<PhaseGroup> groups;
  for (int64_t i = 0; i < *count; ++i) {
    PhaseGroup& group = groups.emplace_back();
    const int64_t column = i % column_groups, row = i / column_groups;
    const int64_t first = phases[2] * column / column_groups, last = phases[2] * (column + 1) / column_groups;
    group.phase = {row / phases[1], row % phases[1], first};
    group.phases = last - first;
    for (size_t axis = 0; axis < 3; ++axis) group.positions[axis] = shape.positions(axis, group.phase[axis]);
    add_products(shape, taps, group);
  }
  return groups;
}

}  // namespace tenon
