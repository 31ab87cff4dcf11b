#pragma once

#include "providers/provider.h"

namespace tenon {

// The vector loops of normalizations over positions of 16 channels.
struct BlockNormalization {
  // The mean of each channel, and the sum of what is left of its numbers, squared. Positions are read twice.
  void (*moments)(const float* x, int64_t positions, float* means, float* squares);
  // y = (x - mean) * factor + bias, with a number for each channel.
  void (*normalize)(const float* x, int64_t positions, const float* means, const float* factors, const float* biases,
                    float* y);
};
const BlockNormalization& block_normalization(Isa isa);

// Instance and group normalizations of values in blocks.
Result<KernelState> bind_instance_normalization_blocks(const BindRequest& request);
Result<KernelState> bind_group_normalization_blocks(const BindRequest& request);
Status run_normalization_blocks(KernelContext& c);

}  // namespace tenon
