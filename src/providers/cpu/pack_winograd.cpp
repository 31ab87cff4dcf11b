#include <algorithm>

#include "base/checked_math.h"
#include "ops/packed.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/pack.h"
#include "providers/cpu/winograd.h"
#include "tensor/not_finite.h"

namespace tenon {

namespace {

// Filters of each output of a panel that are packed at a time: they stay in a first-level cache.
constexpr int64_t kFilters = 32;
constexpr int64_t kTaps = 9;
// From here on stores bypass the caches: what was packed before would have left them anyway.
constexpr int64_t kStreamedFilterBytes = int64_t{1} << 20;

// Channels that are packed at a time.
int64_t channels_at_a_time(int64_t slices) { return std::max<int64_t>(1, kFilters / std::max<int64_t>(1, slices)); }

struct WinogradPacking {
  const PackKernels* columns = nullptr;
  const WinogradKernels* kernels = nullptr;
};

Status run_pack_winograd(KernelContext& c) {
  const auto& packing = c.state<WinogradPacking>();
  const TensorView &w = c.in(0), &out = c.out(0);
  if (out.size() == 0) return {};
  if (c.has(1) && has_not_finite(c.in(1))) c.services().note_not_finite();
  const int64_t outputs = w.dims[0], channels = w.dims[1], panels = out.dims[1];
  const int64_t slices = winograd_slices(w.dims.subspan(2)), taps = slices * kTaps, depth = slices * channels;
  const float *from = w.as<float>().data(), *scale = c.has(1) ? c.in(1).as<float>().data() : nullptr;
  float* to = out.as<float>().data();
  const bool streaming = out.bytes() >= kStreamedFilterBytes && reinterpret_cast<uintptr_t>(to) % 64 == 0;
  const int64_t most_channels = channels_at_a_time(slices), parts = ceil_div(channels, most_channels);
  c.parallel_for(panels * parts, [&](int64_t chunk) {
    const int64_t panel = chunk / parts, first = chunk % parts * most_channels;
    const int64_t count = std::min(most_channels, channels - first),
                  lanes = std::min(kPanelWidth, outputs - panel * kPanelWidth);
    const float* rows[kPanelWidth];
    float scales[kPanelWidth] = {};
    for (int64_t j = 0; j < kPanelWidth; ++j) {
      // Rows that are not there are read from one that is, and cleared afterwards.
      const int64_t output = panel * kPanelWidth + std::min(j, lanes - 1);
      rows[j] = from + (output * channels + first) * taps;
      if (scale) scales[j] = scale[output];
    }
    float* filters = c.scratch<float>();
    if (packing.columns->transpose(rows, count * taps, scale ? scales : nullptr, false, filters))
      c.services().note_not_finite();
    for (int64_t k = 0; k < count * taps && lanes < kPanelWidth; ++k)
      std::fill(filters + k * kPanelWidth + lanes, filters + (k + 1) * kPanelWidth, 0.0f);
    for (int64_t slice = 0; slice < slices; ++slice)
      packing.kernels->pack(filters + slice * kTaps * kPanelWidth, taps * kPanelWidth, count, streaming,
                            to + (panel * depth + slice * channels + first) * kPanelWidth,
                            panels * depth * kPanelWidth);
  });
  return {};
}

Result<KernelState> bind_pack_winograd(const BindRequest& request) {
  const PackedLayout layout = request.params.get<PackPanelsParams>().layout;
  if (winograd_outputs(layout) == 0)
    return error(Code::Unsupported, "the layout {} has no points of tiles", choice_name(layout));
  auto state = std::make_shared<WinogradPacking>();
  state->columns = &pack_kernels(request.isa);
  state->kernels = &winograd_kernels(request.isa, winograd_outputs(layout));
  const int64_t slices = winograd_slices(request.inputs[0].dims.subspan(2));
  return KernelState{std::move(state),
                     channels_at_a_time(slices) * slices * kTaps * kPanelWidth * int64_t{sizeof(float)}};
}

}  // namespace

Variant pack_winograd_variant() { return {"winograd", run_pack_winograd, bind_pack_winograd}; }

}  // namespace tenon
