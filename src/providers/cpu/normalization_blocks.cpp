// Instance and group normalizations of values in blocks of 16 channels. Each part of a plane is read into a cache once
// for its own mean and squares, from which those of channels and groups follow.
#include "providers/cpu/normalization_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked_math.h"
#include "ops/normalization.h"

namespace tenon {

namespace {

// Positions whose moments are taken at a time, which a first-level cache holds, and those of a chunk, at least.
constexpr int64_t kMomentPositions = 256, kNormalizedPositions = 1024;
// Parts of a plane, at most.
constexpr int64_t kMostPlaneParts = 16;

using ChannelNumbers = std::array<float, kLanes>;

// Of some positions of 16 channels.
struct ChannelMoments {
  float count = 0;
  ChannelNumbers means{}, squares{};  // squares: of what is left beside the mean, summed

  void join(const ChannelMoments& other) {
    if (other.count == 0) return;
    const float all = count + other.count, share = other.count / all;
    for (size_t i = 0; i < means.size(); ++i) {
      const float step = other.means[i] - means[i];
      means[i] += step * share;
      squares[i] += other.squares[i] + step * step * count * share;
    }
    count = all;
  }
};

// What a block of 16 channels is normalized with.
struct BlockFactors {
  ChannelNumbers means{}, factors{}, biases{};
};

class NormalizedBlocks {
 public:
  NormalizedBlocks(Dims x, int64_t groups, float epsilon, Isa isa)
      : images_(x[0]), channels_(x[1]), blocks_(ceil_div(x[1], kLanes)), positions_(count_of(x.subspan(2))),
        groups_(groups), epsilon_(epsilon),
        parts_(std::clamp<int64_t>(positions_ / kNormalizedPositions, 1, kMostPlaneParts)),
        functions_(block_normalization(isa)) {}

  int64_t chunks() const { return images_ * blocks_ * parts_; }
  int64_t scratch_bytes() const {
    return chunks() * int64_t{sizeof(ChannelMoments)} + images_ * blocks_ * int64_t{sizeof(BlockFactors)};
  }

  void run(KernelContext& c) const {
    const auto* x = static_cast<const float*>(c.in(0).data);
    auto* y = static_cast<float*>(c.out(0).data);
    // In the memory of the calling thread.
    auto* const moments = c.scratch<ChannelMoments>();
    auto* const factors = static_cast<BlockFactors*>(static_cast<void*>(moments + chunks()));
    c.parallel_for(chunks(), [&](int64_t chunk) { moments[chunk] = moments_of(x, chunk); });
    // Parts join the first of their plane.
    for (int64_t i = 0; i < images_ * blocks_; ++i)
      for (int64_t part = 1; part < parts_; ++part) moments[i * parts_].join(moments[i * parts_ + part]);
    const float *scale = static_cast<const float*>(c.in(1).data), *bias = static_cast<const float*>(c.in(2).data);
    for (int64_t group = 0; group < images_ * groups_; ++group) find_factors(group, moments, scale, bias, factors);
    c.parallel_for(chunks(), [&](int64_t chunk) {
      poll_cancelled();
      const BlockFactors& with = factors[chunk / parts_];
      const int64_t first = first_position(chunk), at = (chunk / parts_ * positions_ + first) * kLanes;
      functions_.normalize(x + at, last_position(chunk) - first, with.means.data(), with.factors.data(),
                           with.biases.data(), y + at);
    });
  }

 private:
  // Of the chunk in its plane.
  int64_t first_position(int64_t chunk) const { return positions_ * (chunk % parts_) / parts_; }
  int64_t last_position(int64_t chunk) const { return positions_ * (chunk % parts_ + 1) / parts_; }

  ChannelMoments moments_of(const float* x, int64_t chunk) const {
    ChannelMoments all;
    const int64_t last = last_position(chunk);
    for (int64_t i = first_position(chunk); i < last; i += kMomentPositions) {
      poll_cancelled();
      const int64_t count = std::min(kMomentPositions, last - i);
      ChannelMoments some{static_cast<float>(count)};
      functions_.moments(x + (chunk / parts_ * positions_ + i) * kLanes, count, some.means.data(), some.squares.data());
      all.join(some);
    }
    return all;
  }

  // Of the channels of a group of an image, from the moments of whole planes.
  void find_factors(int64_t group, const ChannelMoments* moments, const float* scale, const float* bias,
                    BlockFactors* factors) const {
    const int64_t image = group / groups_, size = channels_ / groups_, first = group % groups_ * size;
    const auto of_block = [&](int64_t channel) { return image * blocks_ + channel / kLanes; };
    const auto lane = [](int64_t channel) { return static_cast<size_t>(channel % kLanes); };
    float mean = 0, squares = 0;
    for (int64_t i = first; i < first + size; ++i) mean += moments[of_block(i) * parts_].means[lane(i)];
    mean /= static_cast<float>(size);
    const auto count = static_cast<float>(positions_);
    for (int64_t i = first; i < first + size; ++i) {
      const ChannelMoments& own = moments[of_block(i) * parts_];
      const float step = own.means[lane(i)] - mean;
      squares += own.squares[lane(i)] + step * step * count;
    }
    const float factor = 1 / std::sqrt(squares / (count * static_cast<float>(size)) + epsilon_);
    for (int64_t i = first; i < first + size; ++i) {
      BlockFactors& with = factors[of_block(i)];
      with.means[lane(i)] = mean;
      with.factors[lane(i)] = factor * scale[i];
      with.biases[lane(i)] = bias[i];
    }
  }

  const int64_t images_, channels_, blocks_, positions_, groups_;
  const float epsilon_;
  const int64_t parts_;  // of a plane
  const BlockNormalization& functions_;
};

Result<KernelState> bind_normalized_blocks(const BindRequest& request, int64_t groups, float epsilon) {
  if (!is_blocked(request.input_layouts, 0) || !is_blocked(request.output_layouts, 0))
    return error(Code::Unsupported, "its input and result are not both in blocks");
  const Dims x = request.inputs[0].dims;
  if (request.inputs[1].size() != x[1] || request.inputs[2].size() != x[1])
    return error(Code::Unsupported, "its scale or bias does not have one number for each channel");
  if (count_of(x) == 0) return KernelState{};  // nothing to compute
  auto state = std::make_shared<NormalizedBlocks>(x, groups, epsilon, request.isa);
  const int64_t scratch = state->scratch_bytes(), chunks = state->chunks();
  return KernelState{std::move(state), scratch, chunks};
}

}  // namespace

Result<KernelState> bind_instance_normalization_blocks(const BindRequest& request) {
  return bind_normalized_blocks(request, request.inputs[0].dims[1],
                                request.params.get<InstanceNormalizationParams>().epsilon);
}

Result<KernelState> bind_group_normalization_blocks(const BindRequest& request) {
  const auto& p = request.params.get<GroupNormalizationParams>();
  return bind_normalized_blocks(request, p.num_groups, p.epsilon);
}

Status run_normalization_blocks(KernelContext& c) {
  if (c.out(0).size() > 0) c.state<NormalizedBlocks>().run(c);
  return {};
}

}  // namespace tenon
