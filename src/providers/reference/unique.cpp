#include <algorithm>
#include <functional>
#include <numeric>

#include "ops/select.h"
#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/movement.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// The order numpy sorts by: NaN is equal to itself and after everything else.
template <class T>
int compare(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    const int real = compare(a.real(), b.real());
    return real != 0 ? real : compare(a.imag(), b.imag());
  } else if constexpr (std::is_same_v<T, std::string>) {
    return a.compare(b);
  } else {
    const auto x = widen(a), y = widen(b);
    if (x != x || y != y) return (x != x) - (y != y);
    return (x > y) - (x < y);
  }
}

constexpr int64_t kUnitsPerLook = 16;  // slices that a sort compares lie far from each other in memory

// The slices of the input along an axis, in groups of equal ones.
struct Groups {
  Scratch<int64_t> first;    // per group: its first slice
  Scratch<int64_t> count;    // per group: how many slices it has
  Scratch<int64_t> inverse;  // per slice: its group
};

Groups group_by_order(const Scratch<int64_t>& order, const std::function<bool(int64_t, int64_t)>& equal) {
  Groups groups;
  groups.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !equal(order[i - 1], order[i])) {
      groups.first.push_back(order[i]);
      groups.count.push_back(0);
    }
    ++groups.count.back();
    groups.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  return groups;
}

// Groups in the order in which they appear in the input.
Groups by_first_appearance(const Groups& sorted) {
  Scratch<size_t> order(sorted.first.size());
  std::iota(order.begin(), order.end(), size_t{0});
  WorkMeter meter;
  std::ranges::sort(order, [&](size_t a, size_t b) {
    meter.spend();
    return sorted.first[a] < sorted.first[b];
  });
  Groups groups;
  Scratch<int64_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<int64_t>(i);
    groups.first.push_back(sorted.first[order[i]]);
    groups.count.push_back(sorted.count[order[i]]);
  }
  for (int64_t g : sorted.inverse) groups.inverse.push_back(place[static_cast<size_t>(g)]);
  return groups;
}

template <class T>
Groups find_groups(const TensorView& in, int64_t axis) {
  const AxisSplit split(in.dims, axis);
  const T* data = static_cast<const T*>(in.data);
  WorkMeter meter;
  auto compare_slices = [&](int64_t a, int64_t b) {
    meter.spend(kUnitsPerLook);
    for (int64_t o = 0; o < split.outer; ++o) {
      for (int64_t i = 0; i < split.inner; ++i) {
        meter.spend();
        const int64_t base = o * split.extent * split.inner + i;
        if (int c = compare(data[base + a * split.inner], data[base + b * split.inner])) return c;
      }
    }
    return 0;
  };
  Scratch<int64_t> order;
  order.reserve(static_cast<size_t>(split.extent));
  for_each_index(split.extent, [&](int64_t i) { order.push_back(i); });
  // Equal slices keep their order; a sort that is stable by itself takes memory that nobody counts.
  std::ranges::sort(order, [&](int64_t a, int64_t b) {
    const int c = compare_slices(a, b);
    return c != 0 ? c < 0 : a < b;
  });
  return group_by_order(order, [&](int64_t a, int64_t b) { return compare_slices(a, b) == 0; });
}

Status write_indices(KernelContext& c, size_t output, const Scratch<int64_t>& values) {
  if (!c.wants(output)) return {};
  TN_ASSIGN_OR_RETURN(TensorView out, c.allocate(output, {static_cast<int64_t>(values.size())}));
  std::ranges::copy(values, out.as<int64_t>().begin());
  return {};
}

Status write_unique(KernelContext& c, const TensorView& in, size_t axis, const Groups& groups) {
  std::vector<int64_t> dims(in.dims.begin(), in.dims.end());
  dims[axis] = static_cast<int64_t>(groups.first.size());
  TN_ASSIGN_OR_RETURN(TensorView out, c.allocate(0, std::move(dims)));
  if (out.size() == 0) return {};
  std::vector<AxisMap> maps;
  for (int64_t extent : out.dims) maps.push_back(axis_range(extent));
  maps[axis] = groups.first;
  return copy_mapped(in, out, maps);
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Unique>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<UniqueParams>();
    TensorView in = c.in(0);
    const std::vector<int64_t> flat{in.size()};
    if (!p.axis) in.dims = flat;
    const int64_t axis = p.axis.value_or(0) < 0 ? *p.axis + in.rank() : p.axis.value_or(0);
    Groups groups;
    if (in.size() > 0) {
      TN_RETURN_IF_ERROR(
          (dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                    uint64_t, bool, std::string, std::complex<float>, std::complex<double>>(in.dtype, [&](auto tag) {
            groups = find_groups<typename decltype(tag)::type>(in, axis);
            return Status();
          })));
    } else if (in.dims[static_cast<size_t>(axis)] > 0) {
      return invalid_argument("slices without elements cannot be compared");
    }
    if (!p.sorted) groups = by_first_appearance(groups);
    if (c.wants(0)) TN_RETURN_IF_ERROR(write_unique(c, in, static_cast<size_t>(axis), groups));
    TN_RETURN_IF_ERROR(write_indices(c, 1, groups.first));
    TN_RETURN_IF_ERROR(write_indices(c, 2, groups.inverse));
    return write_indices(c, 3, groups.count);
  };
}

}  // namespace tenon
