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
constexpr int64_t kRowBlock = 168;

// The columns that one weight makes, cut into blocks of panels.
struct Part {
  size_t product = 0;
  int64_t columns = 0, panels = 0;
  int64_t first_block = 0;  // among the blocks of all parts
};

struct MatMulState {
  FusedActivation activation;
  const TileTable* table = nullptr;
  FinishFunction finish = nullptr;
  std::vector<Part> parts;  // those with results that are wanted
  int64_t blocks = 0;       // of all parts

  const Part& part_of(int64_t block) const {
    return *std::prev(std::ranges::upper_bound(parts, block, {}, &Part::first_block));
  }
};

int64_t row_count(const TensorView& x, int64_t k) {
  return k > 0 ? x.size() / k : count_of(x.dims.first(x.dims.size() - 1));
}

Result<KernelState> bind_packed_matmul(const BindRequest& request) {
  const auto& p = request.params.get<PackedMatMulParams>();
  auto state = std::make_shared<MatMulState>(p.activation, &tile_table(request.isa), finish_function(request.isa));
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    if (request.outputs[i].dtype == DType::Undefined || p.columns[i] == 0) continue;
    const int64_t panels = ceil_div(p.columns[i], kPanelWidth);
    state->parts.push_back({i, p.columns[i], panels, state->blocks});
    state->blocks += ceil_div(panels, kPanelBlock);
  }
  const int64_t rows = row_count(request.inputs[0], p.k), chunks = ceil_div(rows, kRowBlock) * state->blocks;
  return KernelState{std::move(state), std::min(rows, kRowBlock) * kPanelBlock * kPanelWidth * int64_t{sizeof(float)},
                     chunks};
}

Status run_packed_matmul(KernelContext& c) {
  const auto& state = c.state<MatMulState>();
  const int64_t k = c.params<PackedMatMulParams>().k;
  const float* x = c.in(0).as<float>().data();
  const FusedActivation activation = with_given_bounds(c, state.activation);
  const int64_t rows = row_count(c.in(0), k), row_blocks = ceil_div(rows, kRowBlock);

  c.parallel_for(row_blocks * state.blocks, [&](int64_t chunk) {
    const int64_t row = chunk % row_blocks * kRowBlock, count = std::min(kRowBlock, rows - row);
    const Part& part = state.part_of(chunk / row_blocks);
    const int64_t panel = (chunk / row_blocks - part.first_block) * kPanelBlock;
    const int64_t panels = std::min(kPanelBlock, part.panels - panel);
    const int64_t column = panel * kPanelWidth, columns = std::min(panels * kPanelWidth, part.columns - column);
    const size_t weight = packed_weight_input(part.product), bias = packed_bias_input(part.product);
    float *sums = c.scratch<float>(), *y = c.out(part.product).as<float>().data() + row * part.columns + column;
    const float* packed = c.in(weight).as<float>().data() + panel * k * kPanelWidth;
    multiply_panels(*state.table, x + row * k, count, k, packed, panels, sums);
    const Finish how{c.has(bias) ? c.in(bias).as<float>().data() + column : nullptr, 1, activation, nullptr};
    for (int64_t i = 0; i < count; ++i)
      state.finish(sums + i * kPanelBlock * kPanelWidth, y + i * part.columns, columns, how);
  });
  return {};
}

}  // namespace

std::span<const Variant> packed_matmul_variants() {
  static constexpr Variant kVariants[] = {{"tiles", run_packed_matmul, bind_packed_matmul, true}};
  return kVariants;
}

}  // namespace tenon
