#include "ops/gather.h"

#include <algorithm>

#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/integers.h"
#include "providers/reference/kernel.h"
#include "providers/reference/text_meter.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// Copies blocks of `inner` elements: out block i is data block blocks[i].
Status copy_blocks(KernelContext& c, const Scratch<int64_t>& blocks, int64_t inner) {
  const TensorView &data = c.in(0), &out = c.out(0);
  return dispatch_by_size(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* source = static_cast<const T*>(data.data);
    T* target = static_cast<T*>(out.data);
    TextMeter meter;
    WorkMeter work;
    for (size_t i = 0; i < blocks.size(); ++i) {
      work.spend(inner);
      meter.copy_n(source + blocks[i] * inner, inner, target + static_cast<int64_t>(i) * inner);
    }
    return Status();
  });
}

Result<Scratch<int64_t>> checked_indices(const TensorView& indices, int64_t extent) {
  Scratch<int64_t> result;
  const int64_t count = indices.size();
  result.reserve(static_cast<size_t>(count));
  WorkMeter meter;
  for (int64_t i = 0; i < count; ++i) {
    meter.spend();
    TN_ASSIGN_OR_RETURN(int64_t index, checked_index(integer_at(indices, i), extent, i));
    result.push_back(index);
  }
  return result;
}

int64_t block_count(Dims dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Gather>() {
  return [](KernelContext& c) -> Status {
    const TensorView& data = c.in(0);
    int64_t axis = c.params<GatherParams>().axis;
    axis += axis < 0 ? data.rank() : 0;
    TN_ASSIGN_OR_RETURN(auto indices, checked_indices(c.in(1), data.dims[static_cast<size_t>(axis)]));
    if (c.out(0).size() == 0) return {};
    const AxisSplit split(data.dims, axis);
    Scratch<int64_t> blocks;
    for (int64_t outer = 0; outer < split.outer; ++outer)
      for (int64_t index : indices) blocks.push_back(outer * split.extent + index);
    return copy_blocks(c, blocks, split.inner);
  };
}

template <>
KernelFunction reference_kernel<OpId::GatherElements>() {
  return [](KernelContext& c) -> Status {
    const TensorView& data = c.in(0);
    int64_t axis = c.params<GatherParams>().axis;
    axis += axis < 0 ? data.rank() : 0;
    const size_t at = static_cast<size_t>(axis);
    TN_ASSIGN_OR_RETURN(auto indices, checked_indices(c.in(1), data.dims[at]));
    if (c.out(0).size() == 0) return {};
    std::vector<int64_t> strides = row_major_strides(data.dims);
    Scratch<int64_t> elements;
    elements.reserve(indices.size());
    const int64_t stride = std::exchange(strides[at], 0);
    for (Walker<1> w(c.in(1).dims, {strides}); w.more(); w.next())
      elements.push_back(w.at(0) + indices[static_cast<size_t>(w.position())] * stride);
    return copy_blocks(c, elements, 1);
  };
}

template <>
KernelFunction reference_kernel<OpId::GatherND>() {
  return [](KernelContext& c) -> Status {
    const TensorView &data = c.in(0), &indices = c.in(1);
    const size_t batch = static_cast<size_t>(c.params<GatherNDParams>().batch_dims);
    const size_t depth = static_cast<size_t>(indices.dims.back());
    if (c.out(0).size() == 0) return {};
    const int64_t rows = block_count(indices.dims.first(indices.dims.size() - 1));
    const int64_t rows_per_batch = rows / block_count(indices.dims.first(batch));
    const Dims indexed = data.dims.subspan(batch, depth);
    Scratch<int64_t> blocks;
    WorkMeter meter;
    for (int64_t row = 0; row < rows; ++row) {
      meter.spend(static_cast<int64_t>(depth) + 1);
      int64_t block = row / rows_per_batch;
      for (size_t k = 0; k < depth; ++k) {
        const int64_t position = row * static_cast<int64_t>(depth) + static_cast<int64_t>(k);
        TN_ASSIGN_OR_RETURN(int64_t index, checked_index(integer_at(indices, position), indexed[k], position));
        block = block * indexed[k] + index;
      }
      blocks.push_back(block);
    }
    return copy_blocks(c, blocks, block_count(data.dims.subspan(batch + depth)));
  };
}

}  // namespace tenon
