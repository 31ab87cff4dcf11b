// Poolings, one output row after the other: the input rows of its windows are combined element by element into one,
// which is sorted by the remainder of its columns by the stride; then every column of the window is a shift of
// neighbours.
#include "ops/pooling.h"

#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "providers/cpu/gather.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/pool_blocks.h"
#include "providers/cpu/rows.h"

namespace tenon {

namespace {

// Columns of the input that a block of output columns may span.
constexpr int64_t kMostSpan = 8192;
constexpr int64_t kPoolScratch = 2 * kMostSpan * int64_t{sizeof(float)};
// Input elements that make a chunk worth sending to another thread.
constexpr int64_t kPoolWork = 1 << 15;

// What is done with the elements of a window.
struct PoolMethod {
  Accumulation rows = Accumulation::Largest;     // across rows, which are elements as they are
  Accumulation columns = Accumulation::Largest;  // of what comes out of that
  float first = 0;                               // what no element gives
  bool counts = false, counts_padding = false;   // results are divided by the positions of their window
  bool takes_root = false;
};

class WindowPool {
 public:
  WindowPool(const PoolShape& shape, const PoolMethod& method, Isa isa)
      : shape_(shape), method_(method), rows_(row_functions(isa)), gather_(gather_function(isa)) {
    const WindowAxis& x = shape_.window[2];
    block_ = std::min(shape_.out[2], (kMostSpan - x.extent()) / x.stride + 1);
    blocks_ = ceil_div(shape_.out[2], block_);
    sort_columns();
    if (method_.counts)
      for (int64_t i = 0; i < shape_.out[2]; ++i) counts_.push_back(static_cast<float>(count(2, i)));
    int64_t work = std::min(kPoolWork, block_ * x.stride + x.extent());
    for (size_t i = 0; i < 2; ++i) work *= std::min({shape_.window[i].kernel, shape_.in[i], kPoolWork});
    per_chunk_ = std::max<int64_t>(1, kPoolWork / std::max<int64_t>(1, work));
  }

  int64_t chunks() const { return ceil_div(blocks(), per_chunk_); }
  void run(int64_t chunk, const float* x, float* y, float* scratch) const {
    const int64_t first = chunk * per_chunk_, last = std::min(blocks(), first + per_chunk_);
    for (int64_t i = first; i < last; ++i) run_block(i, x, y, scratch);
  }

 private:
  int64_t blocks() const { return shape_.planes * shape_.out[0] * shape_.out[1] * blocks_; }
  bool sorts() const { return shape_.window[2].stride > 1; }

  // Neighbours in the sorted row are a stride apart in the input.
  void sort_columns() {
    const WindowAxis& x = shape_.window[2];
    for (int64_t t = 0; t < x.kernel; ++t) {
      const int64_t at = t * x.dilation, remainder = at % x.stride;
      auto phase = std::ranges::find(phases_, remainder, &Phase::remainder);
      if (phase == phases_.end()) phase = phases_.insert(phases_.end(), {remainder, 0, 0});
      phase->length = at / x.stride + block_;
    }
    int64_t offset = 0;
    for (Phase& phase : phases_) {
      phase.offset = offset;
      offset += phase.length;
    }
    for (int64_t t = 0; t < x.kernel; ++t) {
      const int64_t at = t * x.dilation;
      const auto phase = std::ranges::find(phases_, at % x.stride, &Phase::remainder);
      columns_.push_back(sorts() ? phase->offset + at / x.stride : at);
    }
  }

  // Positions of the window along an axis that count.
  int64_t count(size_t axis, int64_t position) const {
    const WindowAxis& a = shape_.window[axis];
    const auto [first, last] = a.taps_inside(position, shape_.in[axis]);
    return method_.counts_padding ? a.taps_in_padded(position, shape_.in[axis]) : last - first;
  }

  // Blocks in the order of the output.
  void run_block(int64_t index, const float* x, float* y, float* combined) const {
    const int64_t begin = index % blocks_ * block_, columns = std::min(block_, shape_.out[2] - begin);
    const int64_t row = index / blocks_, slice = row / shape_.out[1], plane = slice / shape_.out[0];
    const int64_t z = slice % shape_.out[0], line = row % shape_.out[1];
    combine_rows(x + plane * shape_.in_plane(), z, line, begin, columns, combined);
    const float* elements = combined;
    if (sorts()) {
      elements = combined + kMostSpan;
      sort(combined, columns, combined + kMostSpan);
    }
    float* to = y + row * shape_.out[2] + begin;
    std::copy_n(elements + columns_[0], columns, to);
    for (size_t i = 1; i < columns_.size(); ++i) rows_.accumulate(method_.columns, elements + columns_[i], to, columns);
    finish(to, columns, begin, count(0, z) * count(1, line));
  }

  // One row with what the windows' rows hold in each column; it begins with the first column of the first window.
  void combine_rows(const float* x, int64_t z, int64_t line, int64_t begin, int64_t columns, float* combined) const {
    const WindowAxis &depth = shape_.window[0], &height = shape_.window[1], &width = shape_.window[2];
    const int64_t span = (columns - 1) * width.stride + width.extent();
    const int64_t start = begin * width.stride - width.pad_begin;
    const int64_t first = std::clamp<int64_t>(-start, 0, span);
    const int64_t last = std::clamp<int64_t>(shape_.in[2] - start, first, span);
    std::fill_n(combined, span, method_.first);
    const auto [z_first, z_last] = depth.taps_inside(z, shape_.in[0]);
    const auto [y_first, y_last] = height.taps_inside(line, shape_.in[1]);
    for (int64_t i = z_first; i < z_last; ++i)
      for (int64_t j = y_first; j < y_last; ++j) {
        const int64_t at = z * depth.stride + i * depth.dilation - depth.pad_begin;
        const int64_t row = line * height.stride + j * height.dilation - height.pad_begin;
        rows_.accumulate(method_.rows, x + (at * shape_.in[1] + row) * shape_.in[2] + start + first, combined + first,
                         last - first);
      }
  }

  void sort(const float* combined, int64_t columns, float* sorted) const {
    for (const Phase& phase : phases_) {
      const auto count = static_cast<int32_t>(phase.length - block_ + columns);
      const GatherPiece piece{0, count, phase.remainder};
      gather_({.pieces = &piece,
               .piece_count = 1,
               .step = shape_.window[2].stride,
               .channels = 1,
               .from = combined,
               .to = sorted + phase.offset});
    }
  }

  void finish(float* y, int64_t columns, int64_t begin, int64_t rows) const {
    if (method_.takes_root)
      for (int64_t i = 0; i < columns; ++i) y[i] = std::sqrt(y[i]);
    // A window that lies in the padding averages to 0.
    for (int64_t i = 0; i < columns && method_.counts; ++i)
      y[i] /= std::max(1.0f, static_cast<float>(rows) * counts_[static_cast<size_t>(begin + i)]);
  }

  // Columns with one remainder by the stride.
  struct Phase {
    int64_t remainder = 0, length = 0, offset = 0;  // in the sorted row
  };

  const PoolShape shape_;
  const PoolMethod method_;
  const RowFunctions& rows_;
  const GatherFunction gather_;
  int64_t block_ = 1, blocks_ = 1, per_chunk_ = 1;  // columns of a block, blocks of a row, blocks of a chunk
  std::vector<Phase> phases_;
  std::vector<int64_t> columns_;  // where each column of the window begins among the elements
  std::vector<float> counts_;     // of every output column
};

Result<KernelState> bind_pool(const BindRequest& request, const WindowParams& window, const PoolMethod& method) {
  TN_ASSIGN_OR_RETURN(const PoolShape shape, PoolShape::of(request, window));
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  if (shape.window[2].extent() > kMostSpan)
    return error(Code::Unsupported, "its window spans {} columns; this kernel takes at most {}",
                 shape.window[2].extent(), kMostSpan);
  auto pool = std::make_shared<WindowPool>(shape, method, request.isa);
  const int64_t chunks = pool->chunks();
  return KernelState{std::move(pool), kPoolScratch, chunks};
}

Result<KernelState> bind_max_pool(const BindRequest& request) {
  if (request.outputs.size() > 1 && request.outputs[1].dtype != DType::Undefined)
    return error(Code::Unsupported, "its places are wanted as well");
  return bind_pool(request, request.params.get<MaxPoolParams>().window, {.first = -HUGE_VALF});
}

Result<KernelState> bind_average_pool(const BindRequest& request) {
  const auto& p = request.params.get<AveragePoolParams>();
  return bind_pool(
      request, p.window,
      {.rows = Accumulation::Sum, .columns = Accumulation::Sum, .counts = true, .counts_padding = p.count_include_pad});
}

Result<KernelState> bind_lp_pool(const BindRequest& request) {
  const auto& p = request.params.get<LpPoolParams>();
  if (p.p != 1 && p.p != 2) return error(Code::Unsupported, "its p is {}; this kernel takes 1 and 2", p.p);
  return bind_pool(request, p.window,
                   {.rows = p.p == 1 ? Accumulation::SumOfSizes : Accumulation::SumOfSquares,
                    .columns = Accumulation::Sum,
                    .takes_root = p.p == 2});
}

Status run_pool(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& pool = c.state<WindowPool>();
  const float* x = c.in(0).as<float>().data();
  float* y = c.out(0).as<float>().data();
  c.parallel_for(pool.chunks(), [&](int64_t chunk) { pool.run(chunk, x, y, c.scratch<float>()); });
  return {};
}

}  // namespace

std::span<const Variant> max_pool_variants() {
  static const auto variants = with_reference(
      OpId::MaxPool,
      {{.name = "blocks", .run = run_pool_blocks, .bind = bind_max_pool_blocks, .layouts = Variant::For::Blocks},
       {"rows", run_pool, bind_max_pool},
       {"places", run_pool_places, bind_pool_places}});
  return variants;
}

std::span<const Variant> average_pool_variants() {
  static const auto variants = with_reference(
      OpId::AveragePool,
      {{.name = "blocks", .run = run_pool_blocks, .bind = bind_average_pool_blocks, .layouts = Variant::For::Blocks},
       {"rows", run_pool, bind_average_pool}});
  return variants;
}

std::span<const Variant> lp_pool_variants() {
  static const auto variants = with_reference(OpId::LpPool, {{"rows", run_pool, bind_lp_pool}});
  return variants;
}

}  // namespace tenon
