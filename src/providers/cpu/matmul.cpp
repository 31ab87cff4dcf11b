// Products of two activations, as attention has them.
#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "ops/packed.h"
#include "providers/cpu/dense_matmul.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/pack.h"
#include "providers/cpu/panel_product.h"
#include "providers/cpu/rows.h"

namespace tenon {

namespace {

// Rows of A that one chunk multiplies with a packed block of B.
constexpr int64_t kMostRows = 504;
// With fewer rows, packing B costs more than it brings.
constexpr int64_t kLeastPackedRows = 8;
constexpr int64_t kBlockColumns = kPanelBlock * kPanelWidth;

struct ProductState {
  const TileTable* table = nullptr;
  const PackKernels* pack = nullptr;
};

// [batch..., rows, depth] * [batch..., depth, columns]; vectors are one row or one column.
struct ProductShape {
  int64_t rows = 1, depth = 1, columns = 1;
  Dims left_batch, right_batch, batch;
  ProductShape(const TensorView& a, const TensorView& b, const TensorView& y) {
    const auto matrix = [](const TensorView& v) { return v.dims.size() > 1 ? v.dims.size() - 2 : 0; };
    depth = a.dims.back();
    if (a.dims.size() > 1) rows = a.dims[a.dims.size() - 2];
    if (b.dims.size() > 1) columns = b.dims.back();
    left_batch = a.dims.first(matrix(a));
    right_batch = b.dims.first(matrix(b));
    batch = y.dims.first(y.dims.size() - (a.dims.size() > 1) - (b.dims.size() > 1));
  }
};

Result<KernelState> bind_product(const BindRequest& request) {
  if (request.outputs[0].dtype != DType::Float32) return error(Code::Unsupported, "its elements are not float32");
  auto state = std::make_shared<ProductState>(&tile_table(request.isa), &pack_kernels(request.isa));
  const int64_t floats = kDepthBlock * kBlockColumns + kMostRows * kPanelWidth;
  return KernelState{std::move(state), floats * static_cast<int64_t>(sizeof(float))};
}

// One block of columns of one product, for some rows.
class ProductBlock {
 public:
  ProductBlock(const ProductState& state, const ProductShape& shape, int64_t rows, int64_t columns, float* scratch)
      : state_(state), shape_(shape), rows_(rows), columns_(columns), packed_(scratch),
        rest_(scratch + kDepthBlock * kBlockColumns) {}

  void multiply(const float* a, const float* b, float* y) const {
    const int64_t blocks = std::max<int64_t>(1, ceil_div(shape_.depth, kDepthBlock));
    const int64_t whole = columns_ / kPanelWidth, rest = columns_ % kPanelWidth;
    for (int64_t block = 0; block < blocks; ++block) {
      if (block % kBlocksBetweenPolls == kBlocksBetweenPolls - 1) poll_cancelled();
      const int64_t begin = shape_.depth * block / blocks, depth = shape_.depth * (block + 1) / blocks - begin;
      const float* from = b + begin * shape_.columns;
      TileOperands operands{.a = a + begin,
                            .a_stride = shape_.depth,
                            .b = from,
                            .b_panel_stride = kPanelWidth,
                            .b_depth_stride = shape_.columns,
                            .depth = depth,
                            .c = y,
                            .c_stride = shape_.columns,
                            .accumulate = block > 0};
      if (whole > 0) {
        if (rows_ >= kLeastPackedRows) {
          state_.pack->copy(from, shape_.columns, depth, whole, nullptr, false, packed_, depth * kPanelWidth);
          operands.b = packed_;
          operands.b_panel_stride = depth * kPanelWidth;
          operands.b_depth_stride = kPanelWidth;
        }
        multiply_tiles(*state_.table, TileOrder::RowMajor, operands, rows_, whole);
      }
      if (rest == 0) continue;
      // The last columns fill a panel of their own, and their sums a place beside the result.
      for (int64_t k = 0; k < depth; ++k) {
        float* to = packed_ + k * kPanelWidth;
        std::memcpy(to, from + k * shape_.columns + whole * kPanelWidth, static_cast<size_t>(rest) * sizeof(float));
        std::fill(to + rest, to + kPanelWidth, 0.0f);
      }
      operands.b = packed_;
      operands.b_panel_stride = depth * kPanelWidth;
      operands.b_depth_stride = kPanelWidth;
      operands.c = rest_;
      operands.c_stride = kPanelWidth;
      multiply_tiles(*state_.table, TileOrder::RowMajor, operands, rows_, 1);
    }
    for (int64_t row = 0; row < rows_ && rest > 0; ++row)
      std::memcpy(y + row * shape_.columns + whole * kPanelWidth, rest_ + row * kPanelWidth,
                  static_cast<size_t>(rest) * sizeof(float));
  }

 private:
  const ProductState& state_;
  const ProductShape& shape_;
  int64_t rows_, columns_;
  float *packed_, *rest_;
};

// How far operands are into their batches for product number n.
int64_t batch_offset(Dims operand, Dims batch, int64_t n) {
  int64_t offset = 0, step = 1;
  for (size_t i = 0; i < batch.size(); ++i) {
    const size_t axis = batch.size() - 1 - i;
    const int64_t index = n % batch[axis];
    n /= batch[axis];
    if (i >= operand.size()) continue;
    const int64_t extent = operand[operand.size() - 1 - i];
    if (extent != 1) offset += index * step;
    step *= extent;
  }
  return offset;
}

Status run_product(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& state = c.state<ProductState>();
  const ProductShape shape(c.in(0), c.in(1), c.out(0));
  const float *a = static_cast<const float*>(c.in(0).data), *b = static_cast<const float*>(c.in(1).data);
  float* y = static_cast<float*>(c.out(0).data);
  const int64_t row_blocks = ceil_div(shape.rows, kMostRows), column_blocks = ceil_div(shape.columns, kBlockColumns);
  c.parallel_for(count_of(shape.batch) * row_blocks * column_blocks, [&](int64_t chunk) {
    const int64_t column = chunk % column_blocks * kBlockColumns, row = chunk / column_blocks % row_blocks * kMostRows;
    const int64_t n = chunk / (column_blocks * row_blocks);
    const float* left = a + batch_offset(shape.left_batch, shape.batch, n) * shape.rows * shape.depth;
    const float* right = b + batch_offset(shape.right_batch, shape.batch, n) * shape.depth * shape.columns;
    const ProductBlock block(state, shape, std::min(kMostRows, shape.rows - row),
                             std::min(kBlockColumns, shape.columns - column), c.scratch<float>());
    block.multiply(left + row * shape.depth, right + column,
                   y + n * shape.rows * shape.columns + row * shape.columns + column);
  });
  return {};
}

}  // namespace

std::span<const Variant> matmul_variants() {
  static const auto variants = with_reference(
      OpId::MatMul,
      {{"tiles", run_product, bind_product, true}, {"doubles", run_double_product, bind_double_product, true}});
  return variants;
}

}  // namespace tenon
