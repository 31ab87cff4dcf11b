#pragma once

#include <vector>

#include "providers/cpu/conv_shape.h"

namespace tenon {

// A transposed convolution. Output position o and tap t meet input position i where i * stride + t * dilation -
// pad_begin is o. So positions with the same remainder, a phase, read the same taps, and are a convolution with a
// stride of 1 of their own.
struct TransposedConvShape : ConvExtents {
  using ConvExtents::ConvExtents;
  // Output positions of an axis whose remainder by the stride is `phase`.
  int64_t positions(size_t axis, int64_t phase) const;

  // As the op's rule has checked it.
  static Result<TransposedConvShape> of(Dims x, Dims y, const PackedConvTransposeParams& params);
};

// Neighbouring phases of axis 2 in one phase of the other axes: their results lie side by side in the output. Position
// q of phase j along an axis is output position q * stride + j.
struct PhaseGroup {
  // Input positions: position q of the group reads q + shift.
  struct Source {
    std::array<int64_t, 3> shift;
  };
  // One tap of one phase.
  struct Product {
    size_t source = 0;
    int64_t phase = 0;  // counted from the first of the group
    int64_t tap = 0;
  };
  std::array<int64_t, 3> phase{};      // the first along axis 2
  std::array<int64_t, 3> positions{};  // the most along axis 2 that a phase has
  int64_t phases = 0;
  std::vector<Source> sources;
  std::vector<Product> products;  // by source; each phase and source at most once

  int64_t plane() const { return positions[0] * positions[1] * positions[2]; }
};

// All phases of a shape in groups of at most so many; an error when there are more groups or taps than a kernel wants
// to keep a table of.
Result<std::vector<PhaseGroup>> phase_groups(const TransposedConvShape& shape, int64_t most_phases);

// Transposed convolutions of values in blocks of channels.
Result<KernelState> bind_conv_transpose_blocks(const BindRequest& request);
Status run_conv_transpose_blocks(KernelContext& c);

}  // namespace tenon
