// Ops whose output size depends on the elements.
#include "ops/select.h"

#include <algorithm>

#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/movement.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

template <class T>
bool is_non_zero(const T& x) {
  if constexpr (std::is_same_v<T, std::string>)
    return !x.empty();
  else if constexpr (is_float_element<T> || is_small_int<T>)
    return static_cast<double>(x) != 0;
  else
    return x != T();
}

// The numbers in [0, count) that f is true for. They are counted first: a list that grows is copied again and again,
// and long copies cannot be given up.
template <class F>
Scratch<int64_t> positions_where(int64_t count, const F& f) {
  int64_t found = 0;
  for_each_index(count, [&](int64_t i) { found += f(i); });
  Scratch<int64_t> positions;
  positions.reserve(static_cast<size_t>(found));
  for_each_index(count, [&](int64_t i) {
    if (f(i)) positions.push_back(i);
  });
  return positions;
}

// The numbers of the elements that are not zero.
Scratch<int64_t> non_zero_positions(const TensorView& in) {
  Scratch<int64_t> positions;
  with_element_type(in.dtype, [&](auto tag) {
    auto elements = in.as<typename decltype(tag)::type>();
    positions = positions_where(in.size(), [&](int64_t i) { return is_non_zero(elements[static_cast<size_t>(i)]); });
  });
  return positions;
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Compress>() {
  return [](KernelContext& c) -> Status {
    TensorView in = c.in(0);
    const std::vector<int64_t> flat{in.size()};
    const auto axis = c.params<CompressParams>().axis;
    if (!axis) in.dims = flat;
    const size_t at = static_cast<size_t>(axis.value_or(0) < 0 ? *axis + in.rank() : axis.value_or(0));
    const auto condition = c.in(1).as<bool>();
    AxisMap chosen = positions_where(c.in(1).size(), [&](int64_t i) { return condition[static_cast<size_t>(i)]; });
    if (!chosen.empty() && chosen.back() >= in.dims[at])
      return invalid_argument("the condition is true at position {}, but the axis has {} elements",
                              *std::ranges::lower_bound(chosen, in.dims[at]), in.dims[at]);
    std::vector<int64_t> dims(in.dims.begin(), in.dims.end());
    dims[at] = static_cast<int64_t>(chosen.size());
    TN_ASSIGN_OR_RETURN(TensorView out, c.allocate(0, std::move(dims)));
    if (out.size() == 0) return {};
    std::vector<AxisMap> maps;
    for (size_t a = 0; a < out.dims.size(); ++a) maps.push_back(a == at ? AxisMap() : axis_range(out.dims[a]));
    maps[at] = std::move(chosen);
    return copy_mapped(in, out, maps);
  };
}

template <>
KernelFunction reference_kernel<OpId::NonZero>() {
  return [](KernelContext& c) -> Status {
    const TensorView& in = c.in(0);
    const Scratch<int64_t> positions = in.size() > 0 ? non_zero_positions(in) : Scratch<int64_t>{};
    const int64_t count = static_cast<int64_t>(positions.size());
    TN_ASSIGN_OR_RETURN(TensorView out, c.allocate(0, {in.rank(), count}));
    if (count == 0) return {};
    const std::vector<int64_t> strides = row_major_strides(in.dims);
    auto target = out.as<int64_t>();
    for (int64_t axis = 0; axis < in.rank(); ++axis)
      for_each_index(count, [&](int64_t i) {
        target[static_cast<size_t>(axis * count + i)] =
            positions[static_cast<size_t>(i)] / strides[static_cast<size_t>(axis)] % in.dims[static_cast<size_t>(axis)];
      });
    return {};
  };
}

}  // namespace tenon
