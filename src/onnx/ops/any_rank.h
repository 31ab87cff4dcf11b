#pragma once

#include "onnx/import_node.h"

// Forms that do not need to know how many axes a value has: binding, which knows, settles them.
namespace tenon {

// How many axes x has, as a value [1].
ValueId rank_value(ImportNode& n, ValueId x);
// As many ones as the value [1] says, in one dimension.
ValueId ones(ImportNode& n, ValueId count);

// x with axes of extent 1 before axis `at`; kEnd: behind the last one.
inline constexpr int64_t kEnd = -1;
// As many as are said; with kEnd the rank of x must be known.
ValueId insert_axes(ImportNode& n, ValueId x, int64_t at, int64_t count);
// As many as the value [1] says.
ValueId insert_open_axes(ImportNode& n, ValueId x, int64_t at, ValueId count);

// An image has a batch, at least one spatial axis, and its channels.
void require_channels_last(ImportNode& n, ValueId image);
// An image [batch, spatial..., channels] as [batch, channels, spatial...], and back.
ValueId to_channels_first(ImportNode& n, ValueId image);
ValueId to_channels_last(ImportNode& n, ValueId image);

}  // namespace tenon
