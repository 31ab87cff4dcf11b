#pragma once

#include <array>

#include "ops/window.h"
#include "providers/provider.h"

namespace tenon {

// A pooling over three spatial axes; missing ones in front are of extent 1. Each plane, a channel of an image, is
// pooled by itself.
struct PoolShape {
  int64_t planes = 0;
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1};
  std::array<WindowAxis, 3> window;

  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }

  // Of a step whose types and ranks fast kernels take; otherwise the reason why not.
  static Result<PoolShape> of(const BindRequest& request, const WindowParams& params);
};

// Largest elements, with the places where they are if these are wanted.
Result<KernelState> bind_pool_places(const BindRequest& request);
Status run_pool_places(KernelContext& c);

}  // namespace tenon
