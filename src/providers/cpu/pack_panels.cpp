#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked_math.h"
#include "ops/packed.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/pack.h"
#include "tensor/not_finite.h"

namespace tenon {

namespace {

// Work is cut into pieces of about this many rows of sixteen numbers: 256 KiB.
constexpr int64_t kRowsPerChunk = 4096;
// From here on stores bypass the caches: what was packed before would have left them anyway.
constexpr int64_t kStreamedBytes = int64_t{1} << 20;

// One matrix to pack. Immutable while chunks run.
struct PackJob {
  const float* from = nullptr;
  const float* scale = nullptr;
  float* to = nullptr;
  int64_t groups = 1, columns = 0, depth = 0;  // columns of a group
  int64_t taps = 1;                            // of InputsFirst
  bool streaming = false;
  const PackKernels* kernels = nullptr;

  int64_t panels() const { return ceil_div(columns, kPanelWidth); }
};

// Steps of k of one panel, each of whose outputs is a row that begins so many floats after the one before. True when
// NaN or infinity is there.
bool pack_panel_rows(const PackJob& job, int64_t panel, const float* from, int64_t row_stride, int64_t begin,
                     int64_t steps) {
  const int64_t panels = job.panels(), column = panel % panels * kPanelWidth;
  const int64_t count = std::min(kPanelWidth, job.columns - column), output = panel / panels * job.columns + column;
  std::array<const float*, kPanelWidth> rows;
  std::array<float, kPanelWidth> scale{};
  for (int64_t j = 0; j < kPanelWidth; ++j) {
    // Rows that are not there are read from one that is, and cleared afterwards.
    rows[static_cast<size_t>(j)] = from + std::min(j, count - 1) * row_stride;
    if (job.scale && j < count) scale[static_cast<size_t>(j)] = job.scale[output + j];
  }
  float* to = job.to + (panel * job.depth + begin) * kPanelWidth;
  const bool not_finite = job.kernels->transpose(rows.data(), steps, job.scale ? scale.data() : nullptr,
                                                 job.streaming && count == kPanelWidth, to);
  for (int64_t k = 0; k < steps && count < kPanelWidth; ++k)
    std::fill(to + k * kPanelWidth + count, to + (k + 1) * kPanelWidth, 0.0f);
  return not_finite;
}

// Panels [first, last) of all groups' panels, steps [begin, end) of k; w is [N, K].
bool pack_rows(const PackJob& job, int64_t first, int64_t last, int64_t begin, int64_t end) {
  bool not_finite = false;
  for (int64_t panel = first; panel < last; ++panel) {
    const int64_t output = panel / job.panels() * job.columns + panel % job.panels() * kPanelWidth;
    not_finite |= pack_panel_rows(job, panel, job.from + output * job.depth + begin, job.depth, begin, end - begin);
  }
  return not_finite;
}

// The same where w is [C, N / groups, taps], from the first tap of a channel to the last of another.
bool pack_channels(const PackJob& job, int64_t first, int64_t last, int64_t begin, int64_t end) {
  const int64_t channels = job.depth / job.taps;
  bool not_finite = false;
  for (int64_t panel = first; panel < last; ++panel) {
    const int64_t group = panel / job.panels(), column = panel % job.panels() * kPanelWidth;
    for (int64_t k = begin; k < end; k += job.taps) {
      const int64_t row = (group * channels + k / job.taps) * job.columns + column;
      not_finite |= pack_panel_rows(job, panel, job.from + row * job.taps, job.taps, k, job.taps);
    }
  }
  return not_finite;
}

// The same where w is [K, N], one group.
bool pack_columns(const PackJob& job, int64_t first, int64_t last, int64_t begin, int64_t end) {
  const int64_t whole = std::min(last, job.columns / kPanelWidth), stride = job.depth * kPanelWidth;
  const float* from = job.from + begin * job.columns;
  bool not_finite = false;
  if (first < whole)
    not_finite = job.kernels->copy(from + first * kPanelWidth, job.columns, end - begin, whole - first,
                                   job.scale ? job.scale + first * kPanelWidth : nullptr, job.streaming,
                                   job.to + first * stride + begin * kPanelWidth, stride);
  for (int64_t panel = std::max(first, whole); panel < last; ++panel) {
    const int64_t column = panel * kPanelWidth, count = job.columns - column;
    for (int64_t k = begin; k < end; ++k) {
      float* to = job.to + panel * stride + k * kPanelWidth;
      std::fill(to, to + kPanelWidth, 0.0f);
      for (int64_t j = 0; j < count; ++j) {
        const float value = job.from[k * job.columns + column + j];
        not_finite |= !std::isfinite(value);
        to[j] = job.scale ? value * job.scale[column + j] : value;
      }
    }
  }
  return not_finite;
}

Status run_pack_panels(KernelContext& c) {
  const auto& p = c.params<PackPanelsParams>();
  const TensorView &w = c.in(0), &out = c.out(0);
  if (out.size() == 0) return {};
  if (c.has(1) && has_not_finite(c.in(1))) c.services().note_not_finite();
  const bool kn = p.source == WeightOrder::DepthFirst, inputs_first = p.source == WeightOrder::InputsFirst;
  PackJob job;
  job.from = w.as<float>().data();
  job.scale = c.has(1) ? c.in(1).as<float>().data() : nullptr;
  job.to = out.as<float>().data();
  job.groups = p.layout == PackedLayout::Depthwise ? 1 : p.groups;
  job.depth = out.dims[out.dims.size() - 2];
  job.columns = w.size() / job.depth / job.groups;
  if (inputs_first) job.taps = count_of(w.dims.subspan(2));
  job.streaming = out.bytes() >= kStreamedBytes && reinterpret_cast<uintptr_t>(job.to) % 64 == 0;
  job.kernels = &c.state<PackKernels>();

  // Rows of [K, N] are read sixteen panels at a time: a kilobyte of neighbours.
  const int64_t panels = job.groups * job.panels();
  const int64_t rows = std::max<int64_t>(1, (kn ? kRowsPerChunk / 16 : kRowsPerChunk) / job.taps) * job.taps;
  const int64_t depth_block = std::min(job.depth, rows);
  const int64_t panel_block = std::max<int64_t>(1, kRowsPerChunk / depth_block);
  const int64_t depth_blocks = ceil_div(job.depth, depth_block), panel_blocks = ceil_div(panels, panel_block);
  const auto pack = kn ? pack_columns : inputs_first ? pack_channels : pack_rows;
  c.parallel_for(depth_blocks * panel_blocks, [&](int64_t chunk) {
    const int64_t first = chunk / depth_blocks * panel_block, begin = chunk % depth_blocks * depth_block;
    if (pack(job, first, std::min(panels, first + panel_block), begin, std::min(job.depth, begin + depth_block)))
      c.services().note_not_finite();
  });
  return {};
}

Result<KernelState> bind_pack_panels(const BindRequest& request) {
  // The table lives as long as the program.
  return KernelState{{std::shared_ptr<const void>(), &pack_kernels(request.isa)}};
}

}  // namespace

std::span<const Variant> pack_panels_variants() {
  static const Variant variants[] = {pack_winograd_variant(), {"panels", run_pack_panels, bind_pack_panels}};
  return variants;
}

}  // namespace tenon
