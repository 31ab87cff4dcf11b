// Poolings of whole planes: a row of neighbours each.
#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "ops/pooling.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/pool_blocks.h"
#include "providers/cpu/rows.h"

namespace tenon {

namespace {

constexpr int64_t kPooledElements = 1 << 14;  // of a chunk, at least

struct GlobalPoolState {
  const RowFunctions* rows = nullptr;
};

Result<KernelState> bind_global_pool(const BindRequest& request) {
  if (request.inputs[0].dtype != DType::Float32) return error(Code::Unsupported, "its elements are not float32");
  const int64_t chunks = std::max<int64_t>(1, ceil_div(request.inputs[0].size(), kPooledElements));
  return KernelState{std::make_shared<GlobalPoolState>(&row_functions(request.isa)), 0, chunks};
}

Result<KernelState> bind_global_lp_pool(const BindRequest& request) {
  const float p = request.params.get<GlobalLpPoolParams>().p;
  if (p != 1 && p != 2) return error(Code::Unsupported, "its p is {}; this kernel takes 1 and 2", p);
  return bind_global_pool(request);
}

// finish: what becomes of the accumulated number of a plane of so many elements.
template <class Finish>
Status pool_planes(KernelContext& c, Accumulation what, const Finish& finish) {
  const RowFunctions& f = *c.state<GlobalPoolState>().rows;
  const float* x = c.in(0).as<float>().data();
  const auto y = c.out(0).as<float>();
  const int64_t plane = count_of(c.in(0).dims.subspan(2)), planes = c.out(0).size();
  const int64_t per_chunk = std::max<int64_t>(1, kPooledElements / std::max<int64_t>(1, plane));
  c.parallel_for(ceil_div(planes, per_chunk), [&](int64_t chunk) {
    const int64_t last = std::min(planes, (chunk + 1) * per_chunk);
    for (int64_t i = chunk * per_chunk; i < last; ++i)
      y[static_cast<size_t>(i)] = finish(f.reduce(what, x + i * plane, plane), static_cast<float>(plane));
  });
  return {};
}

Status run_global_average_pool(KernelContext& c) {
  return pool_planes(c, Accumulation::Sum, [](float sum, float count) { return sum / count; });
}

Status run_global_max_pool(KernelContext& c) {
  return pool_planes(c, Accumulation::Largest, [](float largest, float) { return largest; });
}

Status run_global_lp_pool(KernelContext& c) {
  if (c.params<GlobalLpPoolParams>().p == 1)
    return pool_planes(c, Accumulation::SumOfSizes, [](float sum, float) { return sum; });
  return pool_planes(c, Accumulation::SumOfSquares, [](float sum, float) { return std::sqrt(sum); });
}

}  // namespace

std::span<const Variant> global_average_pool_variants() {
  static const auto variants =
      with_reference(OpId::GlobalAveragePool, {{.name = "blocks",
                                                .run = run_global_average_pool_blocks,
                                                .bind = bind_global_pool_blocks,
                                                .reads_dims = true,
                                                .layouts = Variant::For::Blocks},
                                               {"planes", run_global_average_pool, bind_global_pool, true}});
  return variants;
}

std::span<const Variant> global_max_pool_variants() {
  static const auto variants =
      with_reference(OpId::GlobalMaxPool, {{.name = "blocks",
                                            .run = run_global_max_pool_blocks,
                                            .bind = bind_global_pool_blocks,
                                            .reads_dims = true,
                                            .layouts = Variant::For::Blocks},
                                           {"planes", run_global_max_pool, bind_global_pool, true}});
  return variants;
}

std::span<const Variant> global_lp_pool_variants() {
  static const auto variants =
      with_reference(OpId::GlobalLpPool, {{"planes", run_global_lp_pool, bind_global_lp_pool, true}});
  return variants;
}

}  // namespace tenon
