#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/finish.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/panel_product.h"
#include "providers/packed_activation.h"

namespace tenon {

namespace {

// Rows of one chunk: whole tiles of every instruction set (14, 6 and 3 rows), and its part of A stays in a
// second-level cache.
constexpr int64_t kRowBlock = 84;

struct MatMulState {
  FusedActivation activation;
  const TileTable* table = nullptr;
  FinishFunction finish = nullptr;
};

Result<KernelState> bind_packed_matmul(const BindRequest& request) {
  TN_ASSIGN_OR_RETURN(const FusedActivation activation,
                      fused_activation(request.params.get<PackedMatMulParams>().activation));
  const int64_t elements = count_of(request.outputs[0].dims);
  const int64_t rows = elements > 0 ? elements / request.params.get<PackedMatMulParams>().n : 0;
  const int64_t panels = ceil_div(request.params.get<PackedMatMulParams>().n, kPanelWidth);
  return KernelState{std::make_shared<MatMulState>(activation, &tile_table(request.isa), finish_function(request.isa)),
                     std::min(rows, kRowBlock) * kPanelBlock * kPanelWidth * int64_t{sizeof(float)},
                     ceil_div(rows, kRowBlock) * ceil_div(panels, kPanelBlock)};
}

Status run_packed_matmul(KernelContext& c) {
  const auto& p = c.params<PackedMatMulParams>();
  const auto& state = c.state<MatMulState>();
  if (c.out(0).size() == 0) return {};
  const float *x = c.in(0).as<float>().data(), *packed = c.in(1).as<float>().data();
  const float* bias = c.has(2) ? c.in(2).as<float>().data() : nullptr;
  float* y = c.out(0).as<float>().data();
  const FusedActivation activation = with_given_bounds(c, state.activation);
  const int64_t rows = c.out(0).size() / p.n, panels = ceil_div(p.n, kPanelWidth);
  const int64_t row_blocks = ceil_div(rows, kRowBlock), panel_blocks = ceil_div(panels, kPanelBlock);

  c.parallel_for(row_blocks * panel_blocks, [&](int64_t chunk) {
    const int64_t row = chunk % row_blocks * kRowBlock, row_count = std::min(kRowBlock, rows - row);
    const int64_t panel = chunk / row_blocks * kPanelBlock, panel_count = std::min(kPanelBlock, panels - panel);
    const int64_t column = panel * kPanelWidth, columns = std::min(panel_count * kPanelWidth, p.n - column);
    float* sums = c.scratch<float>();
    multiply_panels(*state.table, x + row * p.k, row_count, p.k, packed + panel * p.k * kPanelWidth, panel_count, sums);
    const Finish how{bias ? bias + column : nullptr, 1, activation};
    for (int64_t i = 0; i < row_count; ++i)
      state.finish(sums + i * kPanelBlock * kPanelWidth, y + (row + i) * p.n + column, columns, how);
  });
  return {};
}

}  // namespace

std::span<const Variant> packed_matmul_variants() {
  static constexpr Variant kVariants[] = {{"tiles", run_packed_matmul, bind_packed_matmul}};
  return kVariants;
}

}  // namespace tenon
