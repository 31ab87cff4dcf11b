// ArgMax, ArgMin, CumSum, CumProd and TopK: lines of elements along one axis.
#include <algorithm>

#include "ops/reduction.h"
#include "providers/reference/element_access.h"
#include "providers/reference/elementwise.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

constexpr int64_t kUnitsPerLook = 16;  // elements that a sort compares lie far from each other in memory

int64_t from_start(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

// Strictly before in the wanted order; NaN counts as the best of all.
template <class W>
bool before(W a, W b, bool largest) {
  if (a != a || b != b) return a != a && b == b;
  return largest ? a > b : a < b;
}

template <bool kLargest>
Status find_extreme(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& p = c.params<ArgReductionParams>();
  const AxisSplit split(c.in(0).dims, from_start(p.axis, c.in(0).rank()));
  auto out = c.out(0).as<int64_t>();
  return dispatch_numbers(c.in(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = static_cast<const T*>(c.in(0).data);
    for (int64_t o = 0; o < split.outer; ++o) {
      for (int64_t i = 0; i < split.inner; ++i) {
        auto at = [&](int64_t k) { return widen(in[(o * split.extent + k) * split.inner + i]); };
        int64_t best = 0;
        for_each_index(split.extent, [&](int64_t k) {
          if (before(at(k), at(best), kLargest) || (p.select_last_index && !before(at(best), at(k), kLargest)))
            best = k;
        });
        out[static_cast<size_t>(o * split.inner + i)] = best;
      }
    }
    return Status();
  });
}

// f(running value, element); an exclusive scan starts with `start` and leaves the last element out.
template <class F>
Status accumulate(KernelContext& c, int start, F f) {
  const auto& p = c.params<CumulativeParams>();
  const int64_t rank = c.in(0).rank(), axis = integer_at(c.in(1), 0);
  if (axis < -rank || axis >= rank)
    return invalid_argument("axis {} is out of range for a tensor of rank {}", axis, rank);
  if (c.in(0).size() == 0) return {};
  const AxisSplit split(c.in(0).dims, from_start(axis, rank));
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = static_cast<const T*>(c.in(0).data);
    T* out = static_cast<T*>(c.out(0).data);
    for (int64_t o = 0; o < split.outer; ++o) {
      for (int64_t i = 0; i < split.inner; ++i) {
        Wide<T> running = static_cast<Wide<T>>(start);
        for_each_index(split.extent, [&](int64_t k) {
          const int64_t place = p.reverse ? split.extent - 1 - k : k;
          const int64_t n = (o * split.extent + place) * split.inner + i;
          const Wide<T> next = f(running, widen(in[n]));
          out[n] = narrow<T>(p.exclusive ? running : next);
          running = next;
        });
      }
    }
    return Status();
  });
}

// Equal elements come in the order of their indices.
Status take_top(KernelContext& c) {
  if (c.in(0).size() == 0) return {};
  const auto& p = c.params<TopKParams>();
  const int64_t axis = from_start(p.axis, c.in(0).rank());
  const AxisSplit split(c.in(0).dims, axis);
  // Either output may be unwanted, so the count comes from the input.
  const int64_t count = std::min(integer_at(c.in(1), 0), split.extent);
  WorkMeter meter;
  Scratch<int64_t> order;
  order.reserve(static_cast<size_t>(split.extent));
  return dispatch_numbers(c.in(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = static_cast<const T*>(c.in(0).data);
    for (int64_t o = 0; o < split.outer; ++o) {
      for (int64_t i = 0; i < split.inner; ++i) {
        auto at = [&](int64_t k) { return widen(in[(o * split.extent + k) * split.inner + i]); };
        order.clear();
        for_each_index(split.extent, [&](int64_t k) { order.push_back(k); });
        std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](int64_t a, int64_t b) {
          meter.spend(kUnitsPerLook);
          return before(at(a), at(b), p.largest) || (!before(at(b), at(a), p.largest) && a < b);
        });
        for (int64_t k = 0; k < count; ++k) {
          const auto n = static_cast<size_t>((o * count + k) * split.inner + i);
          const int64_t best = order[static_cast<size_t>(k)];
          if (c.wants(0)) c.out(0).template as<T>()[n] = in[(o * split.extent + best) * split.inner + i];
          if (c.wants(1)) c.out(1).template as<int64_t>()[n] = best;
        }
      }
    }
    return Status();
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::ArgMax>() {
  return find_extreme<true>;
}

template <>
KernelFunction reference_kernel<OpId::ArgMin>() {
  return find_extreme<false>;
}

template <>
KernelFunction reference_kernel<OpId::CumSum>() {
  return [](KernelContext& c) {
    return accumulate(c, 0, [](auto a, auto b) {
      if constexpr (std::is_floating_point_v<decltype(a)>)
        return a + b;
      else
        return wrapping_add(a, b);
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::CumProd>() {
  return [](KernelContext& c) {
    return accumulate(c, 1, [](auto a, auto b) {
      if constexpr (std::is_floating_point_v<decltype(a)>)
        return a * b;
      else
        return wrapping_multiply(a, b);
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::TopK>() {
  return take_top;
}

}  // namespace tenon
