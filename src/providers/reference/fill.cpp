// Ops that make tensors from sizes.
#include "ops/fill.h"

#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/text_meter.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// A number as an integer; what has none (NaN, too large) becomes one that no axis has.
template <class T>
int64_t index_of(T x) {
  constexpr int64_t kNoIndex = std::numeric_limits<int64_t>::max();
  if constexpr (is_float_element<T>) {
    const double value = widen(x);
    return std::abs(value) < 9e18 ? static_cast<int64_t>(value) : kNoIndex;
  } else {
    return std::is_same_v<T, uint64_t> && static_cast<uint64_t>(x) > static_cast<uint64_t>(kNoIndex)
               ? kNoIndex
               : static_cast<int64_t>(x);
  }
}

// The elements of a tensor of any number type as indices.
Status read_indices(const TensorView& view, Scratch<int64_t>& indices) {
  return dispatch_numbers(view.dtype, [&](auto tag) {
    const auto elements = view.as<typename decltype(tag)::type>();
    indices.reserve(elements.size());
    for_each_index(view.size(), [&](int64_t i) { indices.push_back(index_of(elements[static_cast<size_t>(i)])); });
    return Status();
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Size>() {
  return [](KernelContext& c) -> Status {
    c.out(0).as<int64_t>()[0] = c.in(0).size();
    return {};
  };
}

template <>
KernelFunction reference_kernel<OpId::ConstantOfShape>() {
  return [](KernelContext& c) -> Status {
    const Tensor& value = c.params<ConstantOfShapeParams>().value;
    const TensorView& out = c.out(0);
    return dispatch_by_size(out.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T element{};
      if (value.defined() && is_sub_byte(out.dtype))
        unpack_sub_byte(out.dtype, value.data(), 1, &element);
      else if (value.defined())
        element = *static_cast<const T*>(value.data());
      TextMeter meter;
      const auto target = raw<T>(out);
      for_each_index(out.size(), [&](int64_t i) { meter.copy(element, target[static_cast<size_t>(i)]); });
      return Status();
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::Range>() {
  return [](KernelContext& c) -> Status {
    return dispatch<float, double, Float16, BFloat16, int16_t, int32_t, int64_t>(c.out(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T start = c.in(0).as<T>()[0], delta = c.in(2).as<T>()[0];
      auto out = c.out(0).as<T>();
      for_each_index(c.out(0).size(), [&](int64_t i) {
        const auto at = static_cast<size_t>(i);
        if constexpr (std::is_integral_v<T>)
          out[at] = static_cast<T>(static_cast<uint64_t>(start) + at * static_cast<uint64_t>(delta));
        else
          out[at] = narrow<T>(widen(start) + static_cast<double>(i) * widen(delta));
      });
      return Status();
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::OneHot>() {
  return [](KernelContext& c) -> Status {
    const TensorView& out = c.out(0);
    if (out.size() == 0) return {};
    const int64_t axis = c.params<OneHotParams>().axis;
    const AxisSplit split(out.dims, axis < 0 ? axis + out.rank() : axis);
    Scratch<int64_t> indices;
    TN_RETURN_IF_ERROR(read_indices(c.in(0), indices));
    return dispatch_by_size(out.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T off = raw<T>(c.in(2))[0], on = raw<T>(c.in(2))[1];
      auto target = raw<T>(out);
      TextMeter meter;
      for_each_index(out.size(), [&](int64_t i) { meter.copy(off, target[static_cast<size_t>(i)]); });
      for_each_index(static_cast<int64_t>(indices.size()), [&](int64_t i) {
        int64_t hot = indices[static_cast<size_t>(i)];
        if (hot < 0) hot += split.extent;
        // An index that is not in the axis leaves its row off.
        if (hot < 0 || hot >= split.extent) return;
        meter.copy(on,
                   target[static_cast<size_t>((i / split.inner * split.extent + hot) * split.inner + i % split.inner)]);
      });
      return Status();
    });
  };
}

}  // namespace tenon
