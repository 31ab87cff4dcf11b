#pragma once

#include "providers/provider.h"

namespace tenon {

// Concat and Split of values in blocks along their channels.
Result<KernelState> bind_concat_blocks(const BindRequest& request);
Status run_concat_blocks(KernelContext& c);
Result<KernelState> bind_split_blocks(const BindRequest& request);
Status run_split_blocks(KernelContext& c);

}  // namespace tenon
