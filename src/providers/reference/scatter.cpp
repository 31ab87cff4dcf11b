#include "ops/scatter.h"

#include "base/checked_math.h"
#include "providers/reference/copy.h"
#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/integers.h"
#include "providers/reference/kernel.h"
#include "providers/reference/movement.h"
#include "providers/reference/text_meter.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

template <class T>
T reduce(const std::string& reduction, T old_value, T update) {
  const Wide<T> a = widen(old_value), b = widen(update);
  if (reduction == "max") return a >= b || a != a ? old_value : update;  // NaN wins
  if (reduction == "min") return a <= b || a != a ? old_value : update;
  if constexpr (std::is_integral_v<T>) {
    // uint64 holds every product's low bits, whatever the width.
    const uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(reduction == "add" ? x + y : x * y);
  } else {
    return narrow<T>(reduction == "add" ? a + b : a * b);
  }
}

// Changes block places[i] of the output (`inner` elements) by block i of the updates, element by element.
template <class T, class Change>
Status scatter_each(const TensorView& out, const TensorView& updates, const Scratch<int64_t>& places, int64_t inner,
                    Change&& change) {
  T* target = static_cast<T*>(out.data);
  const T* source = static_cast<const T*>(updates.data);
  for (size_t i = 0; i < places.size(); ++i)
    for_each_index(
        inner, [&](int64_t k) { change(target[places[i] * inner + k], source[static_cast<int64_t>(i) * inner + k]); });
  return {};
}

Status scatter_blocks(const TensorView& out, const TensorView& updates, const Scratch<int64_t>& places, int64_t inner,
                      const std::string& reduction) {
  TextMeter meter;
  auto each = [&]<class T>(TypeTag<T>, auto&& change) { return scatter_each<T>(out, updates, places, inner, change); };
  if (reduction == "none")
    return dispatch_by_size(out.dtype, [&](auto tag) {
      return each(tag, [&](auto& place, const auto& update) { meter.copy(update, place); });
    });
  if (out.dtype == DType::String)  // texts are joined
    return each(TypeTag<std::string>{}, [&](std::string& place, const std::string& update) {
      meter.add(update.size());
      place += update;
    });
  if (out.dtype == DType::Bool) {
    const bool either = reduction == "add" || reduction == "max";
    return each(TypeTag<uint8_t>{}, [&](uint8_t& place, uint8_t update) {
      place = either ? static_cast<uint8_t>(place | update) : static_cast<uint8_t>(place & update);
    });
  }
  return dispatch_numbers(out.dtype, [&](auto tag) {
    return each(tag, [&]<class T>(T& place, const T& update) { place = reduce(reduction, place, update); });
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::ScatterElements>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<ScatterElementsParams>();
    const TensorView &data = c.in(0), &indices = c.in(1), &out = c.out(0);
    copy_all(data, out);
    const int64_t axis = p.axis < 0 ? p.axis + data.rank() : p.axis;
    const size_t at = static_cast<size_t>(axis);
    if (indices.size() == 0) return {};
    std::vector<int64_t> strides = row_major_strides(data.dims);
    Scratch<int64_t> places;
    const int64_t stride = std::exchange(strides[at], 0);
    for (Walker<1> w(indices.dims, {strides}); w.more(); w.next()) {
      TN_ASSIGN_OR_RETURN(int64_t index, checked_index(integer_at(indices, w.position()), data.dims[at], w.position()));
      places.push_back(w.at(0) + index * stride);
    }
    return scatter_blocks(out, c.in(2), places, 1, p.reduction);
  };
}

template <>
KernelFunction reference_kernel<OpId::ScatterND>() {
  return [](KernelContext& c) -> Status {
    const TensorView &data = c.in(0), &indices = c.in(1), &out = c.out(0);
    copy_all(data, out);
    const int64_t depth = indices.dims.back();
    if (c.in(2).size() == 0) return {};
    int64_t rows = 1, inner = 1;
    for (int64_t d : indices.dims.first(indices.dims.size() - 1)) rows *= d;
    for (int64_t d : data.dims.subspan(static_cast<size_t>(depth))) inner *= d;
    Scratch<int64_t> places;
    WorkMeter meter;
    for (int64_t row = 0; row < rows; ++row) {
      meter.spend(depth + 1);
      int64_t place = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const int64_t extent = data.dims[static_cast<size_t>(k)], position = row * depth + k;
        TN_ASSIGN_OR_RETURN(int64_t index, checked_index(integer_at(indices, position), extent, position));
        place = place * extent + index;
      }
      places.push_back(place);
    }
    return scatter_blocks(out, c.in(2), places, inner, c.params<ScatterNDParams>().reduction);
  };
}

template <>
KernelFunction reference_kernel<OpId::TensorScatter>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<TensorScatterParams>();
    const TensorView &cache = c.in(0), &update = c.in(1), &out = c.out(0);
    copy_all(cache, out);
    if (update.size() == 0) return {};
    const int64_t axis = p.axis < 0 ? p.axis + cache.rank() : p.axis;
    const AxisSplit into(cache.dims, axis), from(update.dims, axis);
    const int64_t rows_per_batch = into.outer / cache.dims[0];
    Scratch<int64_t> places;
    for (int64_t outer = 0; outer < into.outer; ++outer) {
      const int64_t batch = outer / rows_per_batch, start = c.has(2) ? integer_at(c.in(2), batch) : 0;
      const bool fits = start >= 0 && (p.mode == "circular" || start <= into.extent - from.extent);
      if (!fits)
        return invalid_argument("write index {} of batch {} leaves no room for {} steps in a cache of {}", start, batch,
                                from.extent, into.extent);
      for (int64_t step = 0; step < from.extent; ++step)
        places.push_back(outer * into.extent + (start % into.extent + step) % into.extent);
    }
    return scatter_blocks(out, update, places, into.inner, "none");
  };
}

}  // namespace tenon
