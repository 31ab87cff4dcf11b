// Copies of which indices change some elements or blocks: ScatterElements and ScatterND. Updates of one place happen in
// their order, whatever the number of threads.
#include "ops/scatter.h"

#include "providers/cpu/kernel.h"
#include "providers/cpu/moved_elements.h"
#include "providers/cpu/rows.h"
#include "providers/reference/elements.h"
#include "providers/reference/elementwise.h"
#include "providers/reference/indexing.h"
#include "providers/reference/integers.h"

namespace tenon {

namespace {

constexpr int64_t kScatteredElements = 1 << 13;  // of a chunk, at least
constexpr int64_t kScatteredColumns = 256;
constexpr int64_t kMostScatterParts = 8;
constexpr int64_t kLeastSharedBlock = 16;  // elements; indices of shorter blocks take longer than their elements

struct Replace {
  template <class T>
  static T of(T, T update) {
    return update;
  }
};
struct AddUpdate {
  template <class T>
  static T of(T old, T update) {
    if constexpr (is_float_element<T>)
      return narrow<T>(widen(old) + widen(update));
    else
      return wrapping_add(old, update);
  }
};
struct MultiplyUpdate {
  template <class T>
  static T of(T old, T update) {
    if constexpr (is_float_element<T>)
      return narrow<T>(widen(old) * widen(update));
    else
      return wrapping_multiply(old, update);
  }
};
// NaN wins.
struct LargerUpdate {
  template <class T>
  static T of(T old, T update) {
    return widen(old) >= widen(update) || widen(old) != widen(old) ? old : update;
  }
};
struct SmallerUpdate {
  template <class T>
  static T of(T old, T update) {
    return widen(old) <= widen(update) || widen(old) != widen(old) ? old : update;
  }
};

// f(TypeTag<T>, change) with how an update changes an element.
template <class F>
Status with_change(const std::string& reduction, DType dtype, const F& f) {
  if (reduction == "none") return with_moved_type(dtype, [&](auto tag) { return f(tag, Replace()); });
  return dispatch_numbers(dtype, [&](auto tag) {
    if (reduction == "add") return f(tag, AddUpdate());
    if (reduction == "mul") return f(tag, MultiplyUpdate());
    return reduction == "max" ? f(tag, LargerUpdate()) : f(tag, SmallerUpdate());
  });
}

Result<KernelState> bind_scatter(const BindRequest& request, const std::string& reduction) {
  const DType dtype = request.inputs[0].dtype;
  if (reduction != "none" && (dtype == DType::Bool || is_sub_byte(dtype)))
    return error(Code::Unsupported, "it joins elements of type {}", dtype_name(dtype));
  if (request.inputs[0].dims.size() > RowWalk::kMostAxes) return error(Code::Unsupported, "it has too many axes");
  return bind_moved_elements(request);
}

Result<KernelState> bind_scatter_elements(const BindRequest& request) {
  return bind_scatter(request, request.params.get<ScatterElementsParams>().reduction);
}

Result<KernelState> bind_scatter_nd(const BindRequest& request) {
  return bind_scatter(request, request.params.get<ScatterNDParams>().reduction);
}

size_t scattered_axis(const KernelContext& c) {
  const int64_t axis = c.params<ScatterElementsParams>().axis;
  return static_cast<size_t>(axis < 0 ? axis + c.in(0).rank() : axis);
}

// Rows of updates. Those of different indices before the axis, and different columns where the axis is not the last,
// never meet.
struct ScatteredRows {
  size_t at;
  AxisList strides;
  int64_t extent, stride, step, row, apart, together, parts;

  explicit ScatteredRows(const KernelContext& c)
      : at(scattered_axis(c)), strides(row_major_strides(c.in(0).dims)), extent(c.in(0).dims[at]), stride(strides[at]) {
    const Dims dims = c.in(1).dims;
    const bool is_last = at + 1 == dims.size();
    strides[at] = 0;
    step = is_last ? 0 : 1;
    row = dims.back();
    apart = count_of(dims.first(at));
    together = c.in(1).size() / row / apart;
    parts = is_last ? 1 : ceil_div(row, kScatteredColumns);
  }
};

template <class Change, class T>
void scatter_rows(KernelContext& c, const ScatteredRows& s, OutsideIndex& outside) {
  const TensorView& indices = c.in(1);
  const T* updates = static_cast<const T*>(c.in(2).data);
  T* to = static_cast<T*>(c.out(0).data);
  const int64_t columns = s.parts == 1 ? s.row : kScatteredColumns;
  const auto scatter_part = [&](int64_t group, int64_t begin) {
    const int64_t count = std::min(columns, s.row - begin);
    RowWalk walk(indices.dims, s.strides, group * s.together);
    WorkMeter meter;
    for (int64_t row = group * s.together; row < (group + 1) * s.together; ++row, walk.next()) {
      meter.spend(count);
      T* target = to + walk.offset() + begin * s.step;
      const int64_t start = row * s.row + begin;
      for (int64_t i = 0; i < count; ++i) {
        int64_t index = integer_at(indices, start + i);
        index += index < 0 ? s.extent : 0;
        if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(s.extent)) return outside.note(start + i);
        T& place = target[i * s.step + index * s.stride];
        place = Change::of(place, updates[start + i]);
      }
    }
  };
  in_chunks(c, s.apart * s.parts, kScatteredElements / (s.together * columns), [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) scatter_part(i / s.parts, i % s.parts * columns);
  });
}

Status run_scatter_elements(KernelContext& c) {
  const TensorView &indices = c.in(1), &out = c.out(0);
  copy_tensor(c, c.in(0), out);
  if (indices.size() == 0) return {};
  OutsideIndex outside;
  const ScatteredRows rows(c);
  const std::string& reduction = c.params<ScatterElementsParams>().reduction;
  TN_RETURN_IF_ERROR(with_change(reduction, out.dtype, [&](auto tag, auto change) {
    scatter_rows<decltype(change), typename decltype(tag)::type>(c, rows, outside);
    return Status();
  }));
  if (!outside.found()) return {};
  return checked_index(integer_at(indices, outside.position()), rows.extent, outside.position()).status();
}

// Blocks at places of the leading axes. Each part of a grid owns a range of the places.
struct ScatteredBlocks {
  Dims dims;
  int64_t depth, rows, block, places, parts = 1;

  explicit ScatteredBlocks(const KernelContext& c) : dims(c.in(0).dims), depth(c.in(1).dims.back()) {
    const Dims index_dims = c.in(1).dims;
    rows = count_of(index_dims.first(index_dims.size() - 1));
    places = count_of(dims.first(static_cast<size_t>(depth)));
    block = count_of(dims.subspan(static_cast<size_t>(depth)));
    if (block >= kLeastSharedBlock)
      parts = std::clamp<int64_t>(rows * block / (8 * kScatteredElements), 1, kMostScatterParts);
  }
};

template <class Change, class T>
void scatter_blocks(KernelContext& c, const ScatteredBlocks& s, OutsideIndex& outside) {
  const TensorView& indices = c.in(1);
  const T* updates = static_cast<const T*>(c.in(2).data);
  T* to = static_cast<T*>(c.out(0).data);
  c.parallel_for(s.parts, [&](int64_t part) {
    const int64_t first = s.places * part / s.parts, end = s.places * (part + 1) / s.parts;
    WorkMeter meter;
    for (int64_t row = 0; row < s.rows; ++row) {
      meter.spend(s.depth + 1);
      int64_t place = 0;
      for (int64_t k = 0; k < s.depth; ++k) {
        const int64_t extent = s.dims[static_cast<size_t>(k)], position = row * s.depth + k;
        int64_t index = integer_at(indices, position);
        index += index < 0 ? extent : 0;
        if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(extent)) return outside.note(position);
        place = place * extent + index;
      }
      if (place < first || place >= end) continue;
      meter.spend(s.block);
      T* target = to + place * s.block;
      const T* source = updates + row * s.block;
      if constexpr (std::is_same_v<Change, Replace>)
        std::memcpy(static_cast<void*>(target), source, static_cast<size_t>(s.block) * sizeof(T));
      else
        for (int64_t i = 0; i < s.block; ++i) target[i] = Change::of(target[i], source[i]);
    }
  });
}

Status run_scatter_nd(KernelContext& c) {
  const TensorView& out = c.out(0);
  copy_tensor(c, c.in(0), out);
  if (c.in(2).size() == 0) return {};
  OutsideIndex outside;
  const ScatteredBlocks blocks(c);
  const std::string& reduction = c.params<ScatterNDParams>().reduction;
  TN_RETURN_IF_ERROR(with_change(reduction, out.dtype, [&](auto tag, auto change) {
    scatter_blocks<decltype(change), typename decltype(tag)::type>(c, blocks, outside);
    return Status();
  }));
  if (!outside.found()) return {};
  const int64_t position = outside.position(), extent = blocks.dims[static_cast<size_t>(position % blocks.depth)];
  return checked_index(integer_at(c.in(1), position), extent, position).status();
}

}  // namespace

std::span<const Variant> scatter_elements_variants() {
  static const auto variants =
      with_reference(OpId::ScatterElements, {{"rows", run_scatter_elements, bind_scatter_elements, true}});
  return variants;
}

std::span<const Variant> scatter_nd_variants() {
  static const auto variants = with_reference(OpId::ScatterND, {{"blocks", run_scatter_nd, bind_scatter_nd, true}});
  return variants;
}

}  // namespace tenon
