// Single elements or blocks that indices name: GatherElements and GatherND.
#include "ops/gather.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/moved_elements.h"
#include "providers/cpu/rows.h"
#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/integers.h"

namespace tenon {

namespace {

constexpr int64_t kGatheredElements = 1 << 13;  // of a chunk, at least

Result<KernelState> bind_gather_elements(const BindRequest& request) {
  if (request.inputs[0].dims.size() > RowWalk::kMostAxes) return error(Code::Unsupported, "it has too many axes");
  return bind_moved_elements(request);
}

// f(TypeTag<I>) with the type of the indices.
template <class F>
Status with_index_type(const TensorView& indices, const F& f) {
  return indices.dtype == DType::Int32 ? f(TypeTag<int32_t>{}) : f(TypeTag<int64_t>{});
}

// Where an index of an axis points; false outside of it.
inline bool place_of(int64_t index, int64_t extent, int64_t& place) {
  place = index < 0 ? index + extent : index;
  return static_cast<uint64_t>(place) < static_cast<uint64_t>(extent);
}

// The row's elements lie `step` apart, and those that an index chooses among `stride`.
struct GatheredAxis {
  int64_t extent, stride, step;
};

// How many elements came before one with an index outside.
template <class T, class I>
int64_t gather_row(const GatheredAxis& axis, const T* from, const I* indices, int64_t count, T* to) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t place;
    if (!place_of(indices[i], axis.extent, place)) return i;
    to[i] = from[i * axis.step + place * axis.stride];
  }
  return count;
}

template <class T, class I>
void gather_rows(KernelContext& c, OutsideIndex& outside) {
  const TensorView &data = c.in(0), &indices = c.in(1);
  const auto rank = static_cast<size_t>(data.rank());
  const int64_t given = c.params<GatherParams>().axis;
  const auto at = static_cast<size_t>(given < 0 ? given + data.rank() : given);
  AxisList strides = row_major_strides(data.dims);
  const GatheredAxis axis{data.dims[at], strides[at], at + 1 == rank ? 0 : 1};
  strides[at] = 0;
  const int64_t row = indices.dims.back(), rows = indices.size() / row;
  const int64_t parts = ceil_div(row, kGatheredElements);
  const T* from = static_cast<const T*>(data.data);
  const I* index = static_cast<const I*>(indices.data);
  T* to = static_cast<T*>(c.out(0).data);
  in_chunks(c, rows * parts, kGatheredElements / row, [&](int64_t first, int64_t end) {
    poll_cancelled();
    RowWalk walk(indices.dims, strides, first / parts);
    for (int64_t i = first; i < end; ++i) {
      const int64_t begin = i % parts * kGatheredElements, count = std::min(kGatheredElements, row - begin);
      const int64_t start = i / parts * row + begin;
      const T* source = from + walk.offset() + begin * axis.step;
      const int64_t done = gather_row(axis, source, index + start, count, to + start);
      if (done < count) return outside.note(start + done);
      if ((i + 1) % parts == 0) walk.next();
    }
  });
}

Status run_gather_elements(KernelContext& c) {
  const TensorView &data = c.in(0), &indices = c.in(1);
  if (indices.size() == 0) return {};
  OutsideIndex outside;
  TN_RETURN_IF_ERROR(with_moved_type(c.out(0).dtype, [&](auto element) {
    return with_index_type(indices, [&](auto index) {
      gather_rows<typename decltype(element)::type, typename decltype(index)::type>(c, outside);
      return Status();
    });
  }));
  if (!outside.found()) return {};
  const int64_t given = c.params<GatherParams>().axis;
  const auto at = static_cast<size_t>(given < 0 ? given + data.rank() : given);
  return checked_index(integer_at(indices, outside.position()), data.dims[at], outside.position()).status();
}

// Blocks of `block` elements at places of some axes.
struct GatheredBlocks {
  Dims indexed;  // the axes that indices are for
  int64_t depth, rows, rows_per_batch, block;

  explicit GatheredBlocks(const KernelContext& c) {
    const TensorView &data = c.in(0), &indices = c.in(1);
    const auto batch = static_cast<size_t>(c.params<GatherNDParams>().batch_dims);
    depth = indices.dims.back();
    indexed = data.dims.subspan(batch, static_cast<size_t>(depth));
    rows = count_of(indices.dims.first(indices.dims.size() - 1));
    rows_per_batch = std::max<int64_t>(1, rows / std::max<int64_t>(1, count_of(indices.dims.first(batch))));
    block = count_of(data.dims.subspan(batch + static_cast<size_t>(depth)));
  }
};

// The number of the block that a row of indices names; -1, and `outside` knows it, when there is none.
template <class I>
int64_t block_of(const GatheredBlocks& g, const I* indices, int64_t row, OutsideIndex& outside) {
  int64_t block = row / g.rows_per_batch;
  for (int64_t k = 0; k < g.depth; ++k) {
    const int64_t extent = g.indexed[static_cast<size_t>(k)], position = row * g.depth + k;
    int64_t place;
    if (!place_of(indices[position], extent, place)) {
      outside.note(position);
      return -1;
    }
    block = block * extent + place;
  }
  return block;
}

template <class T, class I>
void gather_blocks(KernelContext& c, const GatheredBlocks& g, OutsideIndex& outside) {
  const T* from = static_cast<const T*>(c.in(0).data);
  const I* indices = static_cast<const I*>(c.in(1).data);
  T* to = static_cast<T*>(c.out(0).data);
  const int64_t parts = ceil_div(g.block, kGatheredElements);
  in_chunks(c, g.rows * parts, kGatheredElements / g.block, [&](int64_t first, int64_t end) {
    poll_cancelled();
    for (int64_t i = first; i < end; ++i) {
      const int64_t row = i / parts, block = block_of(g, indices, row, outside);
      if (block < 0) return;
      if (g.block == 1) {
        to[row] = from[block];
        continue;
      }
      const int64_t begin = i % parts * kGatheredElements, count = std::min(kGatheredElements, g.block - begin);
      std::memcpy(static_cast<void*>(to + row * g.block + begin), from + block * g.block + begin,
                  static_cast<size_t>(count) * sizeof(T));
    }
  });
}

Status run_gather_nd(KernelContext& c) {
  const TensorView& indices = c.in(1);
  if (c.out(0).size() == 0) return {};
  const GatheredBlocks g(c);
  OutsideIndex outside;
  TN_RETURN_IF_ERROR(with_moved_type(c.out(0).dtype, [&](auto element) {
    return with_index_type(indices, [&](auto index) {
      gather_blocks<typename decltype(element)::type, typename decltype(index)::type>(c, g, outside);
      return Status();
    });
  }));
  if (!outside.found()) return {};
  const int64_t position = outside.position();
  return checked_index(integer_at(indices, position), g.indexed[static_cast<size_t>(position % g.depth)], position)
      .status();
}

}  // namespace

std::span<const Variant> gather_elements_variants() {
  static const auto variants =
      with_reference(OpId::GatherElements, {{"rows", run_gather_elements, bind_gather_elements, true}});
  return variants;
}

std::span<const Variant> gather_nd_variants() {
  static const auto variants = with_reference(OpId::GatherND, {{"blocks", run_gather_nd, bind_moved_elements, true}});
  return variants;
}

}  // namespace tenon
