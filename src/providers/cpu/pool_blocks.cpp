// Poolings of values in blocks of 16 channels.
#include "providers/cpu/pool_blocks.h"

#include <algorithm>

#include "base/checked_math.h"
#include "ops/pooling.h"
#include "providers/cpu/kernel.h"

namespace tenon {

namespace {

// Input elements that make a chunk worth sending to another thread.
constexpr int64_t kBlockPoolWork = 1 << 15;

enum class Counted : uint8_t { None, Inside, Padded };

class BlockPool {
 public:
  BlockPool(const PoolShape& shape, int64_t blocks, Counted counted, Isa isa)
      : shape_(shape), blocks_(blocks), counted_(counted), run_(pool_row_function(isa)) {
    const WindowAxis& x = shape_.window[2];
    for (int64_t i = 0; counted != Counted::None && i < shape_.out[2]; ++i) counts_.push_back(count(2, i));
    int64_t work = std::min(kBlockPoolWork, shape_.out[2] * kLanes * std::min(x.kernel, shape_.in[2]));
    for (size_t i = 0; i < 2; ++i) work *= std::min({shape_.window[i].kernel, shape_.in[i], kBlockPoolWork});
    per_chunk_ = std::max<int64_t>(1, kBlockPoolWork / std::max<int64_t>(1, work));
  }

  int64_t chunks() const { return ceil_div(rows(), per_chunk_); }
  int64_t scratch_bytes() const { return static_cast<int64_t>(counts_.size() * sizeof(float)); }

  void run(int64_t chunk, const float* x, float* y, float* counts) const {
    PoolRow row;
    row.kernel = shape_.window[2].kernel;
    row.stride = shape_.window[2].stride;
    row.dilation = shape_.window[2].dilation;
    row.pad = shape_.window[2].pad_begin;
    row.input_columns = shape_.in[2];
    row.columns = shape_.out[2];
    for (int64_t i = chunk * per_chunk_; i < std::min(rows(), (chunk + 1) * per_chunk_); ++i) {
      const int64_t line = i % shape_.out[1], slice = i / shape_.out[1];
      const int64_t z = slice % shape_.out[0], block = slice / shape_.out[0];
      find_rows(x + block * shape_.in_plane() * kLanes, z, line, row);
      if (counted_ != Counted::None) {
        const float around = count(0, z) * count(1, line);
        // A window that lies in the padding averages to 0.
        for (size_t k = 0; k < counts_.size(); ++k) counts[k] = std::max(1.0f, around * counts_[k]);
        row.counts = counts;
      }
      row.y = y + i * shape_.out[2] * kLanes;
      run_(row);
    }
  }

 private:
  int64_t rows() const { return blocks_ * shape_.out[0] * shape_.out[1]; }

  // Positions of the window along an axis that count.
  float count(size_t axis, int64_t position) const {
    const WindowAxis& a = shape_.window[axis];
    const auto [first, last] = a.taps_inside(position, shape_.in[axis]);
    return static_cast<float>(counted_ == Counted::Padded ? a.taps_in_padded(position, shape_.in[axis]) : last - first);
  }

  void find_rows(const float* x, int64_t z, int64_t line, PoolRow& row) const {
    row.rows = 0;
    for_each_row_inside(shape_.window, shape_.in, z, line,
                        [&](int64_t, int64_t from) { row.inputs[row.rows++] = x + from * shape_.in[2] * kLanes; });
  }

  const PoolShape shape_;
  const int64_t blocks_;  // of all images
  const Counted counted_;
  const PoolRowFunction run_;
  int64_t per_chunk_ = 1;
  std::vector<float> counts_;  // of every output column
};

Result<KernelState> bind_block_pool(const BindRequest& request, const WindowParams& window, Counted counted) {
  if (!is_blocked(request.input_layouts, 0) || !is_blocked(request.output_layouts, 0))
    return error(Code::Unsupported, "its input and result are not both in blocks");
  TN_ASSIGN_OR_RETURN(const PoolShape shape, PoolShape::of(request, window));
  if (shape.window[0].kernel > kMostWindowRows || shape.window[1].kernel > kMostWindowRows / shape.window[0].kernel)
    return error(Code::Unsupported, "its window has more than {} rows", kMostWindowRows);
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  const Dims x = request.inputs[0].dims;
  auto pool = std::make_shared<BlockPool>(shape, x[0] * ceil_div(x[1], kLanes), counted, request.isa);
  const int64_t scratch = pool->scratch_bytes(), chunks = pool->chunks();
  return KernelState{std::move(pool), scratch, chunks};
}

}  // namespace

Result<KernelState> bind_max_pool_blocks(const BindRequest& request) {
  if (request.outputs.size() > 1 && request.outputs[1].dtype != DType::Undefined)
    return error(Code::Unsupported, "its places are wanted as well");
  return bind_block_pool(request, request.params.get<MaxPoolParams>().window, Counted::None);
}

Result<KernelState> bind_average_pool_blocks(const BindRequest& request) {
  const auto& p = request.params.get<AveragePoolParams>();
  return bind_block_pool(request, p.window, p.count_include_pad ? Counted::Padded : Counted::Inside);
}

Status run_pool_blocks(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& pool = c.state<BlockPool>();
  const auto* x = static_cast<const float*>(c.in(0).data);
  auto* y = static_cast<float*>(c.out(0).data);
  c.parallel_for(pool.chunks(), [&](int64_t chunk) { pool.run(chunk, x, y, c.scratch<float>()); });
  return {};
}

}  // namespace tenon
