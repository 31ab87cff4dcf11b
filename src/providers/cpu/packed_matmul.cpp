#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/finish.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/panel_product.h"
#include "providers/packed_activation.h"

namespace tenon {

namespace {

// Rows of one chunk, at most: each weight is read once for all of them, and their part of A stays in a second-level
// cache.
constexpr int64_t kMostProductRows = 224;
// Chunks that let threads end together, of two panels at least.
constexpr int64_t kEnoughChunks = 12;
// With few rows, panels are streams that are read side by side: as many as the machine fetches ahead best.
constexpr int64_t kFewRows = 4, kStreams = 4;

// The columns that one weight makes.
struct Part {
  size_t product = 0;
  int64_t columns = 0, panels = 0;
};

// How rows and panels are cut into chunks.
struct ProductGrid {
  int64_t row_blocks = 0, rows = 0, panels = 0;  // blocks of rows, rows and panels of a chunk
  ProductGrid(int64_t all_rows, int64_t all_panels)
      : row_blocks(ceil_div(all_rows, kMostProductRows)), rows(ceil_div(all_rows, std::max<int64_t>(1, row_blocks))) {
    const int64_t even = all_panels * row_blocks / kEnoughChunks / 2 * 2;
    panels = all_rows <= kFewRows ? kStreams : std::clamp<int64_t>(even, 2, kPanelBlock);
  }
};

struct MatMulState {
  FusedActivation activation;
  const TileTable* table = nullptr;
  FinishFunction finish = nullptr;
  std::vector<Part> parts;  // those with results that are wanted
  int64_t panels = 0;       // of all parts

  // Blocks of so many panels.
  int64_t blocks(int64_t of_panels) const {
    int64_t count = 0;
    for (const Part& part : parts) count += ceil_div(part.panels, of_panels);
    return count;
  }
  // The part of a block, which becomes its number in the part.
  const Part& part_of(int64_t& block, int64_t of_panels) const {
    const Part* part = parts.data();
    for (; block >= ceil_div(part->panels, of_panels); ++part) block -= ceil_div(part->panels, of_panels);
    return *part;
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
    state->parts.push_back({i, p.columns[i], panels});
    state->panels += panels;
  }
  const int64_t rows = row_count(request.inputs[0], p.k);
  const ProductGrid grid(rows, state->panels);
  // Runs with fewer rows may have more chunks, each of two panels or more.
  const int64_t chunks = std::max<int64_t>(1, grid.row_blocks) * state->blocks(2);
  return KernelState{std::move(state),
                     std::min(rows, kMostProductRows) * kPanelBlock * kPanelWidth * int64_t{sizeof(float)}, chunks};
}

Status run_packed_matmul(KernelContext& c) {
  const auto& state = c.state<MatMulState>();
  const int64_t k = c.params<PackedMatMulParams>().k;
  const float* x = c.in(0).as<float>().data();
  const FusedActivation activation = with_given_bounds(c, state.activation);
  const int64_t rows = row_count(c.in(0), k);
  const ProductGrid grid(rows, state.panels);

  c.parallel_for(grid.row_blocks * state.blocks(grid.panels), [&](int64_t chunk) {
    const int64_t row = chunk % grid.row_blocks * grid.rows, count = std::min(grid.rows, rows - row);
    int64_t block = chunk / grid.row_blocks;
    const Part& part = state.part_of(block, grid.panels);
    const int64_t panel = block * grid.panels, panels = std::min(grid.panels, part.panels - panel);
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
