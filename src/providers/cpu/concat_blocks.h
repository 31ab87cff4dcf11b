#pragma once

#include "providers/provider.h"

namespace tenon {

Result<KernelState> bind_concat_blocks(const BindRequest& request);
Status run_concat_blocks(KernelContext& c);

}  // namespace tenon
