// Normalizations over neighbouring elements: of rows (layer, RMS) and of planes of channels (instance, group).
#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "ops/normalization.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/long_rows.h"
#include "providers/cpu/normalization_blocks.h"

namespace tenon {

namespace {

constexpr int64_t kNormalizedElements = 1 << 13;  // elements, at least

struct NormalizationState {
  const RowFunctions* rows = nullptr;
  KernelFunction reference = nullptr;  // for runs whose extents are none that it was bound for
};

Result<KernelState> bound_normalization(const BindRequest& request, OpId op) {
  const int64_t chunks = std::max<int64_t>(1, ceil_div(request.inputs[0].size(), kNormalizedElements));
  return KernelState{std::make_shared<NormalizationState>(&row_functions(request.isa), reference_function(op)), 0,
                     chunks};
}

Status expect_floats(const BindRequest& request) {
  for (const TensorView& input : request.inputs)
    if (input.dtype != DType::Float32 && input.dtype != DType::Undefined)
      return error(Code::Unsupported, "an input is not float32");
  return {};
}

// Where the rows of a layer normalization begin and end.
struct RowShape {
  int64_t rows = 1, columns = 1;
  RowShape(Dims dims, int64_t axis) {
    const auto rank = static_cast<int64_t>(dims.size());
    for (int64_t i = 0; i < rank; ++i)
      (i < (axis < 0 ? axis + rank : axis) ? rows : columns) *= dims[static_cast<size_t>(i)];
  }
};

// Scale and bias as the row reads them: one number for each column.
bool covers_row(const TensorView& view, const TensorView& x, int64_t axis) {
  const auto rank = static_cast<int64_t>(x.dims.size()), first = axis < 0 ? axis + rank : axis;
  const auto own = static_cast<int64_t>(view.dims.size());
  if (own > rank) return false;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t extent = i < rank - own ? 1 : view.dims[static_cast<size_t>(i - (rank - own))];
    if (extent != (i < first ? 1 : x.dims[static_cast<size_t>(i)])) return false;
  }
  return true;
}

bool all_cover_rows(std::span<const TensorView> inputs, int64_t axis) {
  return std::ranges::all_of(inputs.subspan(1), [&](const TensorView& view) {
    return view.dtype == DType::Undefined || covers_row(view, inputs[0], axis);
  });
}

template <OpId kOp>
Result<KernelState> bind_rows(const BindRequest& request) {
  TN_RETURN_IF_ERROR(expect_floats(request));
  if (!all_cover_rows(request.inputs, request.params.get<LayerNormalizationParams>().axis))
    return error(Code::Unsupported, "its scale or bias does not have one number for each element of a row");
  return bound_normalization(request, kOp);
}

// centered: around the mean, which is then output 1, else around zero. The last output is what rows are multiplied
// with.
template <bool kCentered>
Status run_rows(KernelContext& c) {
  const LongRows f(*c.state<NormalizationState>().rows);
  const auto& p = c.params<LayerNormalizationParams>();
  if (!all_cover_rows(c.inputs(), p.axis)) return c.state<NormalizationState>().reference(c);
  const RowShape shape(c.in(0).dims, p.axis);
  const float *x = static_cast<const float*>(c.in(0).data), *scale = static_cast<const float*>(c.in(1).data);
  const float* bias = c.has(2) ? static_cast<const float*>(c.in(2).data) : nullptr;
  float* y = static_cast<float*>(c.out(0).data);
  float* means = kCentered && c.wants(1) ? static_cast<float*>(c.out(1).data) : nullptr;
  constexpr size_t kLast = kCentered ? 2 : 1;
  float* factors = c.wants(kLast) ? static_cast<float*>(c.out(kLast).data) : nullptr;
  const int64_t rows = std::max<int64_t>(1, kNormalizedElements / std::max<int64_t>(1, shape.columns));
  c.parallel_for(ceil_div(shape.rows, rows), [&](int64_t chunk) {
    const int64_t end = std::min(shape.rows, (chunk + 1) * rows);
    for (int64_t row = chunk * rows; row < end; ++row) {
      const float* from = x + row * shape.columns;
      const auto count = static_cast<float>(shape.columns);
      const float mean = kCentered ? f.reduce(Accumulation::Sum, from, shape.columns) / count : 0;
      const float squares = f.squares_about(from, mean, shape.columns);
      const float factor = 1 / std::sqrt(squares / count + p.epsilon);
      f.normalize(from, mean, factor, scale, bias, y + row * shape.columns, shape.columns);
      if (means) means[row] = mean;
      if (factors) factors[row] = factor;
    }
  });
  return {};
}

// Scale and bias have one number for each channel.
bool are_by_channel(std::span<const TensorView> inputs) {
  return inputs[0].rank() >= 2 && inputs[1].size() == inputs[0].dims[1] && inputs[2].size() == inputs[0].dims[1];
}

template <OpId kOp>
Result<KernelState> bind_planes(const BindRequest& request) {
  TN_RETURN_IF_ERROR(expect_floats(request));
  if (!are_by_channel(request.inputs))
    return error(Code::Unsupported, "its scale or bias does not have one number for each channel");
  return bound_normalization(request, kOp);
}

// Groups of neighbouring planes around their mean, then scaled and shifted by channel.
Status run_planes(KernelContext& c, int64_t groups, float epsilon) {
  if (c.out(0).size() == 0) return {};
  if (!are_by_channel(c.inputs())) return c.state<NormalizationState>().reference(c);
  const LongRows f(*c.state<NormalizationState>().rows);
  const float *x = static_cast<const float*>(c.in(0).data), *scale = static_cast<const float*>(c.in(1).data);
  const float* bias = static_cast<const float*>(c.in(2).data);
  float* y = static_cast<float*>(c.out(0).data);
  const int64_t channels = c.in(0).dims[1], all_groups = c.in(0).dims[0] * groups;
  const int64_t size = c.in(0).size() / all_groups, plane = c.in(0).size() / (c.in(0).dims[0] * channels);
  c.parallel_for(all_groups, [&](int64_t group) {
    const float* from = x + group * size;
    const float mean = f.reduce(Accumulation::Sum, from, size) / static_cast<float>(size);
    const float factor = 1 / std::sqrt(f.squares_about(from, mean, size) / static_cast<float>(size) + epsilon);
    for (int64_t i = 0; i < size; i += plane) {
      const int64_t channel = (group % groups * size + i) / plane;
      const float all = factor * scale[channel];
      // (x - mean) * all + bias, as one multiplication where the bias goes into the shift.
      const float* in = from + i;
      float* out = y + group * size + i;
      f.scale(in, mean, all, out, plane);
      if (const float b = bias[channel]; b != 0) f.scale(out, -b, 1, out, plane);
    }
  });
  return {};
}

Status run_instances(KernelContext& c) {
  return run_planes(c, c.in(0).dims[1], c.params<InstanceNormalizationParams>().epsilon);
}

Status run_groups(KernelContext& c) {
  const auto& p = c.params<GroupNormalizationParams>();
  return run_planes(c, p.num_groups, p.epsilon);
}

}  // namespace

std::span<const Variant> layer_normalization_variants() {
  static const auto variants =
      with_reference(OpId::LayerNormalization, {{"rows", run_rows<true>, bind_rows<OpId::LayerNormalization>, true}});
  return variants;
}

std::span<const Variant> rms_normalization_variants() {
  static const auto variants =
      with_reference(OpId::RMSNormalization, {{"rows", run_rows<false>, bind_rows<OpId::RMSNormalization>, true}});
  return variants;
}

std::span<const Variant> instance_normalization_variants() {
  static const auto variants = with_reference(
      OpId::InstanceNormalization, {{.name = "blocks",
                                     .run = run_normalization_blocks,
                                     .bind = bind_instance_normalization_blocks,
                                     .layouts = Variant::For::Blocks},
                                    {"planes", run_instances, bind_planes<OpId::InstanceNormalization>, true}});
  return variants;
}

std::span<const Variant> group_normalization_variants() {
  static const auto variants =
      with_reference(OpId::GroupNormalization, {{.name = "blocks",
                                                 .run = run_normalization_blocks,
                                                 .bind = bind_group_normalization_blocks,
                                                 .layouts = Variant::For::Blocks},
                                                {"planes", run_groups, bind_planes<OpId::GroupNormalization>, true}});
  return variants;
}

}  // namespace tenon
