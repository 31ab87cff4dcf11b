// Poolings of whole planes of values in blocks of 16 channels; their results are plain.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/pool_blocks.h"

namespace tenon {

namespace {

constexpr int64_t kPooledNumbers = 1 << 14;  // of a chunk, at least

// The planes of a value.
struct GlobalBlocks {
  explicit GlobalBlocks(Dims x)
      : channels(x[1]), blocks(ceil_div(x[1], kLanes)), images(x[0]), positions(count_of(x.subspan(2))) {}
  int64_t channels, blocks, images, positions;

  int64_t blocks_per_chunk() const {
    return std::max<int64_t>(1, kPooledNumbers / std::max<int64_t>(1, positions * kLanes));
  }
  int64_t chunks() const { return ceil_div(images * blocks, blocks_per_chunk()); }
};

template <class FinishNumber>
Status pool_blocks(KernelContext& c, bool largest, const FinishNumber& finish) {
  const GlobalBlocks s(c.in(0).dims);
  const auto reduce = c.state<BlockReduction>();
  const auto* x = static_cast<const float*>(c.in(0).data);
  auto* y = static_cast<float*>(c.out(0).data);
  c.parallel_for(s.chunks(), [&](int64_t chunk) {
    const int64_t last = std::min(s.images * s.blocks, (chunk + 1) * s.blocks_per_chunk());
    for (int64_t i = chunk * s.blocks_per_chunk(); i < last; ++i) {
      float numbers[kLanes];
      reduce(x + i * s.positions * kLanes, s.positions, largest, numbers);
      const int64_t channel = i % s.blocks * kLanes;
      float* to = y + i / s.blocks * s.channels + channel;
      for (int64_t k = 0; k < std::min(kLanes, s.channels - channel); ++k)
        to[k] = finish(numbers[k], static_cast<float>(s.positions));
    }
  });
  return {};
}

}  // namespace

Result<KernelState> bind_global_pool_blocks(const BindRequest& request) {
  if (!is_blocked(request.input_layouts, 0) || is_blocked(request.output_layouts, 0))
    return error(Code::Unsupported, "it does not go from blocks to a plain result");
  const int64_t chunks = GlobalBlocks(request.inputs[0].dims).chunks();
  return KernelState{std::make_shared<BlockReduction>(block_reduction(request.isa)), 0, std::max<int64_t>(1, chunks)};
}

Status run_global_average_pool_blocks(KernelContext& c) {
  return pool_blocks(c, false, [](float sum, float count) { return sum / count; });
}

Status run_global_max_pool_blocks(KernelContext& c) {
  return pool_blocks(c, true, [](float largest, float) { return largest; });
}

}  // namespace tenon
