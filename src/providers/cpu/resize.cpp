// Resizing along the last three axes, one output row after the other. Where elements come from is worked out once for
// each axis, in the working memory of the calling thread.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/checked_math.h"
#include "providers/cpu/interleave.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/resample.h"
#include "providers/cpu/rows.h"
#include "providers/reference/resize_axis.h"

namespace tenon {

namespace {

constexpr int64_t kMostTaps = 4;
constexpr size_t kMostResizeAxes = 8;
// Elements of tables and rows, at most.
constexpr int64_t kMostTable = 1 << 20;
constexpr int64_t kResizedElements = 1 << 14;  // of a chunk, at least

int64_t padded(int64_t count) { return ceil_div(count, 16) * 16; }

// Where the elements of an axis come from: tap t of element i is at [t * stride + i].
struct AxisTable {
  int32_t* index = nullptr;
  float* weights = nullptr;
  int64_t stride = 0;
  bool unchanged = false;
};

struct ResizeShape {
  int64_t planes = 1, taps = 1;
  int64_t lanes = 1;  // neighbours that move together: the channels of a block
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1};
  size_t first = 0;    // of these axes among those of the tensor, or
  size_t missing = 0;  // axes in front that the tensor does not have

  int64_t rows() const { return planes * out[0] * out[1]; }
  int64_t rows_per_chunk() const { return std::max<int64_t>(1, kResizedElements / (out[2] * lanes)); }
  int64_t chunks() const { return ceil_div(rows(), rows_per_chunk()); }
  int64_t table_floats() const { return 2 * taps * (padded(out[0]) + padded(out[1]) + padded(out[2])); }
  int64_t scratch_floats() const { return table_floats() + padded(in[2] * lanes); }
  // The input row of one plane at these positions.
  const float* row(const float* x, int64_t plane, int64_t z, int64_t y) const {
    return x + ((plane * in[0] + z) * in[1] + y) * in[2] * lanes;
  }
};

struct ResizeState {
  ResizeShape shape;
  const ResampleFunctions* functions = nullptr;
  InterleaveFunction interleave = nullptr;
};

Result<KernelState> bind_resize(const BindRequest& request, int64_t taps) {
  const Dims x = request.inputs[0].dims, y = request.outputs[0].dims;
  const auto& p = request.params.get<ResizeParams>();
  if (p.coordinate_transformation_mode == "tf_crop_and_resize")
    return error(Code::Unsupported, "it resizes a region of its input");
  if (x.empty() || count_of(y) == 0) return error(Code::Unsupported, "it has no elements or no axes");
  if (x.size() > kMostResizeAxes)
    return error(Code::Unsupported, "it has {} axes; this kernel takes at most {}", x.size(), kMostResizeAxes);
  const bool blocked = is_blocked(request.output_layouts, 0);
  if (blocked != is_blocked(request.input_layouts, 0))
    return error(Code::Unsupported, "only one of its input and result is in blocks");
  if (blocked && x.size() > 5) return error(Code::Unsupported, "it has {} axes; blocks have at most 5", x.size());
  ResizeShape shape{.taps = taps, .lanes = blocked ? kLanes : 1};
  shape.first = blocked ? 2 : x.size() > 3 ? x.size() - 3 : 0;
  shape.missing = 3 - (x.size() - shape.first);
  for (size_t i = 0; i < x.size(); ++i) {
    if (i < shape.first) {
      if (x[i] != y[i]) return error(Code::Unsupported, "it resizes axis {}; this kernel takes the last three", i);
      shape.planes *= blocked && i == 1 ? ceil_div(x[i], kLanes) : x[i];
    } else {
      shape.in[i - shape.first + shape.missing] = x[i];
      shape.out[i - shape.first + shape.missing] = y[i];
    }
  }
  for (const int64_t extent : {shape.in[0], shape.in[1], shape.in[2], shape.out[0], shape.out[1], shape.out[2]})
    if (!blocked && extent > kMostTable / 8)
      return error(Code::Unsupported, "an axis has {} elements; this kernel takes at most {}", extent, kMostTable / 8);
  auto state = std::make_shared<ResizeState>(shape, &resample_functions(request.isa), interleave_function(request.isa));
  return KernelState{std::move(state), shape.scratch_floats() * int64_t{sizeof(float)}, shape.chunks()};
}

Result<KernelState> bind_interpolation(const BindRequest& request) {
  const auto& p = request.params.get<ResizeParams>();
  if (p.mode == "nearest") return error(Code::Unsupported, "it does not interpolate");
  if (p.antialias) return error(Code::Unsupported, "it filters what it shrinks (antialias)");
  if (request.inputs[0].dtype != DType::Float32) return error(Code::Unsupported, "its elements are not float32");
  return bind_resize(request, p.mode == "cubic" ? 4 : 2);
}

Result<KernelState> bind_nearest(const BindRequest& request) {
  if (request.params.get<ResizeParams>().mode != "nearest") return error(Code::Unsupported, "it interpolates");
  const DType dtype = request.inputs[0].dtype;
  if (dtype != DType::Float32 && dtype != DType::Int32 && dtype != DType::UInt32)
    return error(Code::Unsupported, "its elements do not have 4 bytes");
  return bind_resize(request, 1);
}

// Element i of an axis that interpolates.
void find_taps(const ResizeParams& p, const ResizedAxis& axis, int64_t i, int64_t taps, const AxisTable& table) {
  std::array<double, kMostTaps> weights{};
  size_t count = 0;
  const double x = *source_coordinate<double>(p, axis, i);
  const double sum = visit_resize_taps(p, axis, x, [&](int64_t index, double weight) {
    table.index[static_cast<int64_t>(count) * table.stride + i] = static_cast<int32_t>(index);
    weights[count++] = weight;
  });
  const double scale = normalizes_taps(p) && sum != 0 ? 1 / sum : 1;
  for (int64_t t = 0; t < taps; ++t)
    table.weights[t * table.stride + i] = static_cast<float>(weights[static_cast<size_t>(t)] * scale);
}

void fill_table(const ResizeParams& p, const ResizedAxis& axis, int64_t taps, AxisTable& table) {
  std::fill_n(table.index, taps * table.stride, 0);
  std::fill_n(table.weights, taps * table.stride, 0.0f);
  table.unchanged = is_unchanged(axis);
  for (int64_t i = 0; i < axis.to; ++i) {
    if (table.unchanged) {
      table.index[i] = static_cast<int32_t>(i);
      table.weights[i] = 1;
    } else if (p.mode == "nearest") {
      table.index[i] = static_cast<int32_t>(nearest_index(p, axis, *source_coordinate<float>(p, axis, i)));
    } else {
      find_taps(p, axis, i, taps, table);
    }
  }
}

using AxisTables = std::array<AxisTable, 3>;

// False when an axis in front of the last three is resized after all: by a scale that keeps its extent.
Result<bool> fill_tables(KernelContext& c, const ResizeShape& shape, AxisTables& tables) {
  const auto& p = c.params<ResizeParams>();
  const bool by_sizes = c.has(3) && c.in(3).size() > 0;
  const auto scales = by_sizes ? std::span<const float>() : std::span<const float>(c.in(2).as<float>());
  const auto sizes = by_sizes ? std::span<const int64_t>(c.in(3).as<int64_t>()) : std::span<const int64_t>();
  std::array<AxisResize, kMostResizeAxes> plan;
  const std::span<AxisResize> axes(plan.data(), c.in(0).dims.size());
  TN_RETURN_IF_ERROR(plan_resize(p, c.in(0).dims, scales, sizes, axes));
  float* memory = c.scratch<float>();
  for (size_t i = 0; i < 3; ++i) {
    AxisTable& table = tables[i];
    table.stride = padded(shape.out[i]);
    table.weights = memory;
    table.index = reinterpret_cast<int32_t*>(memory + shape.taps * table.stride);
    memory += 2 * shape.taps * table.stride;
    const AxisResize axis = i < shape.missing ? AxisResize{1, 1, 1} : axes[shape.first + i - shape.missing];
    fill_table(p, {axis}, shape.taps, table);
  }
  return std::ranges::all_of(axes.first(shape.first), [](const AxisResize& a) { return is_unchanged({a}); });
}

// The same along a row whose columns are 16 channels each.
void sample_blocks(const ResizeState& state, const AxisTable& width, const float* from, float* y) {
  const ResizeShape& s = state.shape;
  for (int64_t i = 0; i < s.out[2]; ++i, y += s.lanes) {
    std::array<const float*, kMostTaps> columns;
    std::array<float, kMostTaps> weights;
    size_t count = 0;
    for (int64_t at = i; at < s.taps * width.stride; at += width.stride) {
      if (width.weights[at] == 0) continue;
      weights[count] = width.weights[at];
      columns[count++] = from + width.index[at] * s.lanes;
    }
    state.functions->blend(columns.data(), weights.data(), static_cast<int64_t>(count), s.lanes, y);
  }
}

// One row between those of the input.
void interpolate_row(const ResizeState& state, const AxisTables& tables, const float* x, int64_t row, float* buffer,
                     float* y) {
  const ResizeShape& s = state.shape;
  const auto& [depth, height, width] = tables;
  const int64_t line = row % s.out[1], slice = row / s.out[1], z = slice % s.out[0], plane = slice / s.out[0];
  std::array<const float*, kMostTaps * kMostTaps> rows;
  std::array<float, kMostTaps * kMostTaps> weights;
  size_t count = 0;
  for (int64_t i = 0; i < s.taps; ++i)
    for (int64_t j = 0; j < s.taps; ++j) {
      const int64_t from_z = i * depth.stride + z, from_y = j * height.stride + line;
      if (depth.weights[from_z] == 0 || height.weights[from_y] == 0) continue;
      weights[count] = depth.weights[from_z] * height.weights[from_y];
      rows[count++] = s.row(x, plane, depth.index[from_z], height.index[from_y]);
    }
  const bool as_it_is = count == 1 && weights[0] == 1;
  const auto blend = [&](int64_t columns, float* to) {
    state.functions->blend(rows.data(), weights.data(), static_cast<int64_t>(count), columns * s.lanes, to);
  };
  if (width.unchanged) return blend(s.out[2], y);
  if (!as_it_is) blend(s.in[2], buffer);
  if (s.lanes > 1) return sample_blocks(state, width, as_it_is ? rows[0] : buffer, y);
  state.functions->sample(as_it_is ? rows[0] : buffer, width.index, width.weights, s.taps, width.stride, s.out[2], y);
}

// A resize of other axes than the last three, which its extents do not show.
Status run_elsewhere(KernelContext& c, const ResizeShape& shape) {
  if (shape.lanes == 1) return reference_function(OpId::Resize)(c);
  return error(Code::Unsupported, "Resize changes the batch or the channels by a scale that keeps their number");
}

Status run_interpolation(KernelContext& c) {
  const auto& state = c.state<ResizeState>();
  const ResizeShape& s = state.shape;
  AxisTables tables;
  TN_ASSIGN_OR_RETURN(const bool fits, fill_tables(c, s, tables));
  if (!fits) return run_elsewhere(c, s);
  const float* x = c.in(0).as<float>().data();
  float* y = c.out(0).as<float>().data();
  c.parallel_for(s.chunks(), [&](int64_t chunk) {
    const int64_t last = std::min(s.rows(), (chunk + 1) * s.rows_per_chunk());
    // Behind the tables, which only the calling thread's memory has.
    float* buffer = c.scratch<float>() + s.table_floats();
    for (int64_t row = chunk * s.rows_per_chunk(); row < last; ++row)
      interpolate_row(state, tables, x, row, buffer, y + row * s.out[2] * s.lanes);
  });
  return {};
}

// How often each element of a row is repeated; 0 when they are not repeated alike.
int64_t repetitions(const ResizeShape& shape, const AxisTable& width) {
  if (shape.out[2] % shape.in[2] != 0) return 0;
  const int64_t times = shape.out[2] / shape.in[2];
  for (int64_t i = 0; i < shape.out[2]; ++i)
    if (width.index[i] != i / times) return 0;
  return times;
}

void pick_row(const ResizeState& state, const AxisTable& width, int64_t times, const float* from, float* to) {
  const ResizeShape& s = state.shape;
  if (times == 1) {
    std::copy_n(from, s.out[2] * s.lanes, to);
  } else if (s.lanes > 1) {
    for (int64_t i = 0; i < s.out[2]; ++i)
      std::memcpy(to + i * s.lanes, from + width.index[i] * s.lanes, static_cast<size_t>(s.lanes) * sizeof(float));
  } else if (times > 1) {
    state.interleave({.from = from, .from_stride = 0, .rows = times, .count = s.in[2], .to = to, .step = times});
  } else {
    for (int64_t i = 0; i < s.out[2]; ++i) to[i] = from[width.index[i]];
  }
}

Status run_nearest(KernelContext& c) {
  const auto& state = c.state<ResizeState>();
  const ResizeShape& s = state.shape;
  AxisTables tables;
  TN_ASSIGN_OR_RETURN(const bool fits, fill_tables(c, s, tables));
  if (!fits) return run_elsewhere(c, s);
  // Elements of 4 bytes, whatever they are.
  const auto* x = static_cast<const float*>(static_cast<const void*>(c.in(0).data));
  auto* y = static_cast<float*>(static_cast<void*>(c.out(0).data));
  const int64_t times = repetitions(s, tables[2]);
  c.parallel_for(s.chunks(), [&](int64_t chunk) {
    const int64_t last = std::min(s.rows(), (chunk + 1) * s.rows_per_chunk());
    const float* before = nullptr;
    for (int64_t row = chunk * s.rows_per_chunk(); row < last; ++row) {
      const int64_t slice = row / s.out[1];
      const float* from =
          s.row(x, slice / s.out[0], tables[0].index[slice % s.out[0]], tables[1].index[row % s.out[1]]);
      const int64_t length = s.out[2] * s.lanes;
      float* to = y + row * length;
      // Rows are repeated as columns are.
      if (from == before)
        std::copy_n(to - length, length, to);
      else
        pick_row(state, tables[2], times, from, to);
      before = from;
    }
  });
  return {};
}

}  // namespace

std::span<const Variant> resize_variants() {
  static const auto variants = with_reference(
      OpId::Resize,
      {{.name = "nearest", .run = run_nearest, .bind = bind_nearest, .layouts = Variant::For::Both},
       {.name = "interpolation", .run = run_interpolation, .bind = bind_interpolation, .layouts = Variant::For::Both}});
  return variants;
}

}  // namespace tenon
