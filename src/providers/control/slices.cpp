#include "providers/control/slices.h"

#include <algorithm>
#include <cstring>

#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "tensor/text_memory.h"

namespace tenon {

namespace {

// The same elements, one per byte when they are packed; `storage` keeps them alive.
Result<TensorView> addressable(const TensorView& view, const std::shared_ptr<MemoryBudget>& budget,
                               std::shared_ptr<Buffer>& storage) {
  if (!is_sub_byte(view.dtype)) return view;
  TN_ASSIGN_OR_RETURN(storage, Buffer::allocate(view.size(), budget));
  unpack_sub_byte(view.dtype, view.data, view.size(), storage->data());
  return TensorView{view.dtype, view.dims, storage->data()};
}

// Fills a new tensor through f, which writes one element per byte where the type is packed.
template <class F>
Result<Tensor> make_tensor(DType dtype, std::vector<int64_t> dims, const std::shared_ptr<MemoryBudget>& budget, F f) {
  TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, std::move(dims), budget));
  if (!is_sub_byte(dtype)) {
    if (dtype != DType::String && tensor.size() > 0)
      std::memset(tensor.mutable_data(), 0, static_cast<size_t>(tensor.bytes()));
    TN_RETURN_IF_ERROR(f(tensor.view()));
    return charge_text(tensor, budget);
  }
  TN_ASSIGN_OR_RETURN(auto wide, Buffer::allocate(tensor.size(), budget));
  std::memset(wide->data(), 0, static_cast<size_t>(tensor.size()));
  TN_RETURN_IF_ERROR(f(TensorView{dtype, tensor.dims(), wide->data()}));
  pack_sub_byte(dtype, wide->data(), tensor.size(), tensor.mutable_data());
  return tensor;
}

}  // namespace

Result<SliceSource> SliceSource::make(const TensorView& view, int64_t axis,
                                      const std::shared_ptr<MemoryBudget>& budget) {
  SliceSource source;
  source.axis_ = axis;
  source.budget_ = budget;
  TN_ASSIGN_OR_RETURN(source.view_, addressable(view, budget, source.unpacked_));
  return source;
}

Result<Tensor> SliceSource::slice(int64_t index) const {
  std::vector<int64_t> dims(view_.dims.begin(), view_.dims.end());
  dims.erase(dims.begin() + axis_);
  // What lies together is lent: the step's inputs stay until its end, and whoever keeps a slice for longer copies it.
  const AxisSplit whole(view_.dims, axis_);
  if (whole.outer == 1 && view_.dtype != DType::String && !is_sub_byte(view_.dtype)) {
    const int64_t bytes = *storage_bytes(view_.dtype, whole.inner);
    return Tensor::borrow(view_.dtype, std::move(dims), static_cast<const std::byte*>(view_.data) + index * bytes,
                          nullptr);
  }
  return make_tensor(view_.dtype, std::move(dims), budget_, [&](const TensorView& out) {
    if (out.size() == 0) return Status();
    const AxisSplit split(view_.dims, axis_);
    return dispatch_by_size(out.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = static_cast<const T*>(view_.data);
      T* to = static_cast<T*>(out.data);
      for (int64_t o = 0; o < split.outer; ++o)
        std::copy_n(from + (o * split.extent + index) * split.inner, split.inner, to + o * split.inner);
      return Status();
    });
  });
}

Status Stack::add(Value part) { return add_at(size(), std::move(part)); }

Status Stack::add_at(int64_t place, Value part) {
  Tensor* tensor = part.tensor();
  if (!tensor)
    return invalid_argument("only tensors can be stacked, but iteration {} returns {}", place, part.type().to_string());
  if (!parts_.empty()) {
    const Tensor& first = parts_.front().tensor;
    if (first.dtype() != tensor->dtype() || first.dims() != tensor->dims())
      return invalid_argument("iterations return different types or shapes: {} and then {}",
                              Value(first).type().to_string(), part.type().to_string());
  }
  parts_.push_back({place, std::move(*tensor)});
  return {};
}

Result<Tensor> Stack::finish(int64_t count, int64_t axis, const Type& expected,
                             const std::shared_ptr<MemoryBudget>& budget) {
  DType dtype = expected.dtype;
  std::vector<int64_t> dims;
  if (!parts_.empty()) {
    dtype = parts_.front().tensor.dtype();
    dims = parts_.front().tensor.dims();
  } else if (expected.shape) {
    for (const Dim& d : *expected.shape) dims.push_back(d.constant().value_or(0));
  }
  if (dtype == DType::Undefined)
    return unsupported("the loop did not run, so the element type of its result is unknown");
  const int64_t rank = static_cast<int64_t>(dims.size()) + 1;
  if (axis < -rank || axis >= rank)
    return invalid_argument("axis {} is out of range for a result of rank {}", axis, rank);
  const int64_t at = axis < 0 ? axis + rank : axis;
  dims.insert(dims.begin() + at, count);
  return make_tensor(dtype, dims, budget, [&](const TensorView& out) -> Status {
    if (out.size() == 0) return {};
    const AxisSplit split(out.dims, at);
    for (const Part& part : parts_) {
      std::shared_ptr<Buffer> storage;
      TN_ASSIGN_OR_RETURN(TensorView view, addressable(part.tensor.view(), budget, storage));
      TN_RETURN_IF_ERROR(dispatch_by_size(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* from = static_cast<const T*>(view.data);
        T* to = static_cast<T*>(out.data);
        for (int64_t o = 0; o < split.outer; ++o)
          std::copy_n(from + o * split.inner, split.inner, to + (o * split.extent + part.place) * split.inner);
        return Status();
      }));
    }
    return {};
  });
}

}  // namespace tenon
