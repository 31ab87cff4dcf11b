// Padding and cropping: rows that begin and end with what pads them, around a copy.
#include "ops/pad.h"

#include <array>
#include <cstring>

#include "base/checked_math.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/rows.h"
#include "providers/reference/integers.h"
#include "providers/reference/pad_axis.h"

namespace tenon {

namespace {

constexpr size_t kMostPadAxes = 8;
constexpr int64_t kPaddedBytes = 1 << 16;  // of a chunk, at least

// All of one step that its inputs tell. Rows go along the innermost axis that is padded; an element of a row is
// everything behind that axis.
struct Padding {
  std::string_view mode;
  std::array<PadAxis, kMostPadAxes> axes;
  std::array<int64_t, kMostPadAxes> extents{}, from_strides{};  // of the result, and in elements of the input
  size_t row_axis = 0;
  int64_t rows = 1, block = 1;

  explicit Padding(const KernelContext& c) : mode(c.params<PadParams>().mode) {
    const Dims in = c.in(0).dims, out = c.out(0).dims;
    for (size_t i = 0; i < in.size(); ++i) {
      axes[i] = {0, in[i], 0};
      extents[i] = out[i];
    }
    const int64_t given = c.in(1).size() / 2;
    for (int64_t i = 0; i < given; ++i) {
      const int64_t named = c.has(3) ? integer_at(c.in(3), i) : i;
      const auto axis = static_cast<size_t>(named < 0 ? named + c.in(0).rank() : named);
      axes[axis] = PadAxis::of(in[axis], integer_at(c.in(1), i), integer_at(c.in(1), given + i));
    }
    int64_t stride = 1;
    for (size_t i = in.size(); i-- > 0; stride *= in[i]) from_strides[i] = stride;
    row_axis = in.size() - 1;
    while (row_axis > 0 && axes[row_axis].count == in[row_axis] && in[row_axis] == out[row_axis]) --row_axis;
    for (size_t i = 0; i < row_axis; ++i) rows *= out[i];
    for (size_t i = row_axis + 1; i < in.size(); ++i) block *= out[i];
  }
  int64_t length() const { return extents[row_axis]; }
  // Where the row begins in the input, or kFill.
  int64_t source(int64_t row) const {
    int64_t offset = 0;
    for (size_t i = row_axis; i-- > 0; row /= extents[i]) {
      const int64_t at = axes[i].source(mode, row % extents[i]);
      if (at == kFill) return kFill;
      offset += at * from_strides[i];
    }
    return offset;
  }
};

template <class T>
void pad_row(const Padding& p, const T* x, int64_t row, const T& fill, T* y) {
  const int64_t from = p.source(row), block = p.block, length = p.length();
  if (from == kFill) {
    std::fill_n(y, length * block, fill);
    return;
  }
  const PadAxis& axis = p.axes[p.row_axis];
  const auto pad = [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t at = axis.source(p.mode, i);
      if (at == kFill)
        std::fill_n(y + i * block, block, fill);
      else
        std::copy_n(x + from + at * block, block, y + i * block);
    }
  };
  pad(0, axis.shift);
  std::copy_n(x + from + axis.first * block, axis.count * block, y + axis.shift * block);
  pad(axis.shift + axis.count, length);
}

template <class T>
void pad_rows(KernelContext& c, const Padding& p) {
  const T* x = static_cast<const T*>(static_cast<const void*>(c.in(0).data));
  T* y = static_cast<T*>(static_cast<void*>(c.out(0).data));
  T fill{};
  if (c.has(2)) std::memcpy(&fill, c.in(2).data, sizeof(T));
  const int64_t row = p.length() * p.block, row_bytes = row * static_cast<int64_t>(sizeof(T));
  const int64_t per_chunk = std::max<int64_t>(1, kPaddedBytes / row_bytes);
  c.parallel_for(ceil_div(p.rows, per_chunk), [&](int64_t chunk) {
    const int64_t last = std::min(p.rows, (chunk + 1) * per_chunk);
    for (int64_t i = chunk * per_chunk; i < last; ++i) pad_row(p, x, i, fill, y + i * row);
  });
}

Result<KernelState> bind_pad(const BindRequest& request) {
  if (request.inputs[0].dtype == DType::String) return error(Code::Unsupported, "its elements are strings");
  const size_t rank = request.inputs[0].dims.size();
  if (rank == 0 || rank > kMostPadAxes)
    return error(Code::Unsupported, "it has {} axes; this kernel takes 1 to {}", rank, kMostPadAxes);
  return KernelState{};
}

Status run_pad(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const Padding padding(c);
  switch (*storage_bytes(c.out(0).dtype, 1)) {
    case 1:
      pad_rows<uint8_t>(c, padding);
      break;
    case 2:
      pad_rows<uint16_t>(c, padding);
      break;
    case 4:
      pad_rows<uint32_t>(c, padding);
      break;
    case 8:
      pad_rows<uint64_t>(c, padding);
      break;
    default:
      pad_rows<std::array<uint64_t, 2>>(c, padding);
  }
  return {};
}

}  // namespace

std::span<const Variant> pad_variants() {
  static const auto variants = with_reference(OpId::Pad, {{"rows", run_pad, bind_pad, true}});
  return variants;
}

}  // namespace tenon
