#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <cstring>

#include "base/checked_math.h"
#include "providers/provider.h"
#include "providers/reference/work_meter.h"

// What kernels share that move elements without looking at them.
namespace tenon {

inline constexpr int64_t kMovedBytes = 1 << 16;  // of a chunk, at least

inline Result<KernelState> bind_moved_elements(const BindRequest& request) {
  if (request.inputs[0].dtype == DType::String) return error(Code::Unsupported, "its elements are strings");
  return KernelState{};
}

// As kernels see them: sub-byte elements take a byte each.
inline int64_t moved_bytes(DType dtype) { return *storage_bytes(dtype, 1); }

// f(TypeTag<T>) with a type of the elements' size.
template <class F>
Status with_moved_type(DType dtype, const F& f) {
  switch (moved_bytes(dtype)) {
    case 1:
      return f(TypeTag<uint8_t>{});
    case 2:
      return f(TypeTag<uint16_t>{});
    case 4:
      return f(TypeTag<uint32_t>{});
    case 8:
      return f(TypeTag<uint64_t>{});
    default:
      return f(TypeTag<std::complex<double>>{});
  }
}

// Calls f(first, end) for ranges of [0, count), on several threads.
template <class F>
void in_chunks(KernelContext& c, int64_t count, int64_t per_chunk, const F& f) {
  per_chunk = std::max<int64_t>(1, per_chunk);
  c.parallel_for(ceil_div(count, per_chunk),
                 [&](int64_t chunk) { f(chunk * per_chunk, std::min(count, (chunk + 1) * per_chunk)); });
}

// Copies a tensor unless both are one.
inline void copy_tensor(KernelContext& c, const TensorView& from, const TensorView& to) {
  if (from.size() == 0 || from.data == to.data) return;
  const auto* source = static_cast<const std::byte*>(from.data);
  auto* target = static_cast<std::byte*>(to.data);
  in_chunks(c, from.size() * moved_bytes(from.dtype), 4 * kMovedBytes, [&](int64_t first, int64_t end) {
    poll_cancelled();
    std::memcpy(target + first, source + first, static_cast<size_t>(end - first));
  });
}

// Writes one element again and again.
inline void fill_elements(std::byte* to, const void* element, int64_t element_bytes, int64_t count) {
  constexpr int64_t kPattern = 1 << 12;
  const int64_t bytes = count * element_bytes, pattern = std::min(bytes, kPattern);
  const auto* parts = static_cast<const unsigned char*>(element);
  if (std::all_of(parts, parts + element_bytes, [&](unsigned char part) { return part == parts[0]; })) {
    std::memset(to, parts[0], static_cast<size_t>(bytes));
    return;
  }
  for (int64_t i = 0; i < pattern; i += element_bytes) std::memcpy(to + i, element, static_cast<size_t>(element_bytes));
  for (int64_t i = pattern; i < bytes; i += kPattern)
    std::memcpy(to + i, to, static_cast<size_t>(std::min(kPattern, bytes - i)));
}

// The first index that is outside its axis, where several threads look.
class OutsideIndex {
 public:
  void note(int64_t position) {
    int64_t known = first_.load(std::memory_order_relaxed);
    while (position < known && !first_.compare_exchange_weak(known, position, std::memory_order_relaxed)) {
    }
  }
  // False when all are inside.
  bool found() const { return position() != kNone; }
  int64_t position() const { return first_.load(std::memory_order_relaxed); }

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> first_{kNone};
};

// Goes through the rows of a tensor, that is all axes but the last, with an offset in another tensor.
class RowWalk {
 public:
  // `strides` are those of the other tensor.
  template <class Strides>
  RowWalk(Dims dims, const Strides& strides, int64_t row) {
    for (size_t i = 0; i + 1 < dims.size(); ++i) axes_[count_++] = {dims[i], strides[i], 0};
    for (size_t i = count_; i-- > 0; row /= axes_[i].extent) {
      axes_[i].index = row % axes_[i].extent;
      offset_ += axes_[i].index * axes_[i].stride;
    }
  }
  int64_t offset() const { return offset_; }
  void next() {
    for (size_t i = count_; i-- > 0;) {
      Axis& axis = axes_[i];
      offset_ += axis.stride;
      if (++axis.index < axis.extent) return;
      offset_ -= axis.stride * axis.extent;
      axis.index = 0;
    }
  }
  static constexpr size_t kMostAxes = 16;

 private:
  struct Axis {
    int64_t extent, stride, index;
  };
  std::array<Axis, kMostAxes> axes_;
  size_t count_ = 0;
  int64_t offset_ = 0;
};

}  // namespace tenon
