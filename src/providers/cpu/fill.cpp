// Ops that make tensors from next to nothing: ConstantOfShape, EyeLike, OneHot and Trilu.
#include "ops/fill.h"

#include "ops/diagonal.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/moved_elements.h"
#include "providers/cpu/rows.h"
#include "providers/reference/element_access.h"
#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"

namespace tenon {

namespace {

struct FilledElement {
  std::array<std::byte, 16> bytes{};
};

void fill_tensor(KernelContext& c, const TensorView& to, const void* element) {
  const int64_t bytes = moved_bytes(to.dtype);
  auto* data = static_cast<std::byte*>(to.data);
  in_chunks(c, to.size(), 4 * kMovedBytes / bytes, [&](int64_t first, int64_t end) {
    poll_cancelled();
    fill_elements(data + first * bytes, element, bytes, end - first);
  });
}

Result<KernelState> bind_filled(const BindRequest& request) {
  if (request.outputs[0].dtype == DType::String) return error(Code::Unsupported, "its elements are strings");
  return KernelState{};
}

Status run_constant_of_shape(KernelContext& c) {
  const Tensor& value = c.params<ConstantOfShapeParams>().value;
  const TensorView& out = c.out(0);
  FilledElement element;
  if (value.defined() && is_sub_byte(out.dtype))
    unpack_sub_byte(out.dtype, value.data(), 1, element.bytes.data());
  else if (value.defined())
    std::memcpy(element.bytes.data(), value.data(), static_cast<size_t>(moved_bytes(out.dtype)));
  fill_tensor(c, out, element.bytes.data());
  return {};
}

Result<KernelState> bind_eye(const BindRequest& request) {
  if (is_sub_byte(request.outputs[0].dtype)) return error(Code::Unsupported, "its elements are smaller than a byte");
  return bind_filled(request);
}

Status run_eye(KernelContext& c) {
  const TensorView& out = c.out(0);
  const int64_t rows = out.dims[0], columns = out.dims[1], k = c.params<EyeLikeParams>().k;
  if (out.size() == 0) return {};
  fill_tensor(c, out, FilledElement().bytes.data());
  const int64_t first = std::max<int64_t>(0, k < 0 ? -k : 0), end = std::min(rows, k < columns ? columns - k : 0);
  for (int64_t row = first; row < end; ++row) store_number(out, row * columns + row + k, 1);
  return {};
}

Result<KernelState> bind_one_hot(const BindRequest& request) {
  const DType dtype = request.inputs[0].dtype;
  if (dtype != DType::Int64 && dtype != DType::Int32) return error(Code::Unsupported, "its indices are not integers");
  return bind_filled(request);
}

Status run_one_hot(KernelContext& c) {
  const TensorView &out = c.out(0), &indices = c.in(0);
  if (out.size() == 0) return {};
  const int64_t axis = c.params<OneHotParams>().axis;
  const AxisSplit split(out.dims, axis < 0 ? axis + out.rank() : axis);
  fill_tensor(c, out, c.in(2).data);
  return with_moved_type(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T on = raw<T>(c.in(2))[1];
    T* to = static_cast<T*>(out.data);
    in_chunks(c, indices.size(), kMovedBytes, [&](int64_t first, int64_t end) {
      poll_cancelled();
      for (int64_t i = first; i < end; ++i) {
        int64_t hot = any_integer_at(indices, i);
        if (hot < 0) hot += split.extent;
        // An index that is not in the axis leaves its row off.
        if (hot >= 0 && hot < split.extent)
          to[(i / split.inner * split.extent + hot) * split.inner + i % split.inner] = on;
      }
    });
    return Status();
  });
}

// A row of the triangle is a copy, and zeros before or behind it.
Status run_triangle(KernelContext& c) {
  const TensorView &in = c.in(0), &out = c.out(0);
  if (in.size() == 0) return {};
  const int64_t columns = in.dims.back(), rows = in.dims[in.dims.size() - 2], bytes = moved_bytes(in.dtype);
  // What the diagonal is beyond the matrix makes no difference.
  const int64_t k = std::clamp<int64_t>(c.has(1) ? c.in(1).as<int64_t>()[0] : 0, -rows - 1, columns + 1);
  const bool upper = c.params<TriluParams>().upper;
  const auto* from = static_cast<const std::byte*>(in.data);
  auto* to = static_cast<std::byte*>(out.data);
  in_chunks(c, in.size() / columns, kMovedBytes / (columns * bytes), [&](int64_t first, int64_t end) {
    poll_cancelled();
    for (int64_t i = first; i < end; ++i) {
      const int64_t row = i % rows, cut = std::clamp<int64_t>(row + k + (upper ? 0 : 1), 0, columns);
      const int64_t begin = upper ? cut : 0, last = upper ? columns : cut;
      const std::byte* source = from + i * columns * bytes;
      std::byte* target = to + i * columns * bytes;
      std::memset(target, 0, static_cast<size_t>(begin * bytes));
      if (source != target)
        std::memcpy(target + begin * bytes, source + begin * bytes, static_cast<size_t>((last - begin) * bytes));
      std::memset(target + last * bytes, 0, static_cast<size_t>((columns - last) * bytes));
    }
  });
  return {};
}

}  // namespace

std::span<const Variant> constant_of_shape_variants() {
  static const auto variants =
      with_reference(OpId::ConstantOfShape, {{"copies", run_constant_of_shape, bind_filled, true}});
  return variants;
}

std::span<const Variant> eye_like_variants() {
  static const auto variants = with_reference(OpId::EyeLike, {{"copies", run_eye, bind_eye, true}});
  return variants;
}

std::span<const Variant> one_hot_variants() {
  static const auto variants = with_reference(OpId::OneHot, {{"copies", run_one_hot, bind_one_hot, true}});
  return variants;
}

std::span<const Variant> trilu_variants() {
  static const auto variants = with_reference(OpId::Trilu, {{"rows", run_triangle, bind_moved_elements, true}});
  return variants;
}

}  // namespace tenon
