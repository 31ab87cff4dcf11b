#pragma once

#include <functional>
#include <span>

#include "ops/window.h"

// Sliding windows, one tap at a time. Seen from one tap, a convolution or pooling is a set of rows: neighbours on the
// dense side (the output of a convolution) meet every stride-th element on the strided side (its input). Elements in
// the padding do not appear.
namespace tenon {

struct TapRow {
  int64_t dense = 0, strided = 0;  // element offsets of the first pair, within one channel
  int64_t length = 0;              // pairs; the strided side advances by the last axis' stride
};

using TapFunction = std::function<Status(int64_t tap, std::span<const TapRow> rows)>;
// Calls f(tap, rows) for every tap that meets the strided side at all, in row-major order of taps, until it fails. The
// window's padding must be explicit. Work is proportional to the pairs that meet, whatever the attributes say.
Status for_each_tap(const Window& window, Dims dense, Dims strided, const TapFunction& f);

}  // namespace tenon
