#include "ops/reduction.h"

#include <algorithm>

#include "base/exact_math.h"
#include "providers/reference/convert.h"
#include "providers/reference/elementwise.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// The elements that one result takes together.
template <class T>
struct Group {
  const T* base;
  std::span<const int64_t> offsets;
  double number(size_t i) const { return static_cast<double>(base[offsets[i]]); }
  T element(size_t i) const { return base[offsets[i]]; }
  size_t size() const { return offsets.size(); }
};

// Extents and strides of the input, apart by whether the axis stays.
struct Split {
  std::vector<int64_t> kept_dims, kept_strides, reduced_dims, reduced_strides;

  explicit Split(KernelContext& c) {
    std::vector<int64_t> axes;
    if (c.has(1)) axes.assign(c.in(1).as<int64_t>().begin(), c.in(1).as<int64_t>().end());
    const Dims dims = c.in(0).dims;
    const std::vector<bool> reduced = c.params<ReductionParams>().reduced(axes, c.in(0).rank());
    const std::vector<int64_t> strides = row_major_strides(dims);
    for (size_t i = 0; i < dims.size(); ++i) {
      (reduced[i] ? reduced_dims : kept_dims).push_back(dims[i]);
      (reduced[i] ? reduced_strides : kept_strides).push_back(strides[i]);
    }
  }
  Scratch<int64_t> reduced_offsets() const {
    Scratch<int64_t> offsets;
    for (Walker<1> w(reduced_dims, {reduced_strides}); w.more(); w.next()) offsets.push_back(w.at(0));
    return offsets;
  }
};

// Calls f(i) for every element of a group, which may be the whole tensor.
template <class T, class F>
void for_each(const Group<T>& group, const F& f) {
  for_each_index(static_cast<int64_t>(group.size()), [&](int64_t i) { f(static_cast<size_t>(i)); });
}

// out[i] = f(group i). The rule has checked the axes.
template <class T, class F>
Status reduce(KernelContext& c, F f) {
  if (c.out(0).size() == 0) return {};
  const Split split(c);
  const Scratch<int64_t> offsets = split.reduced_offsets();
  const T* in = static_cast<const T*>(c.in(0).data);
  T* out = static_cast<T*>(c.out(0).data);
  for (Walker<1> w(split.kept_dims, {split.kept_strides}); w.more(); w.next())
    out[w.position()] = f(Group<T>{in + w.at(0), offsets});
  return {};
}

// f(group) is a double for every number type.
template <class F>
Status reduce_numbers(KernelContext& c, F f) {
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return reduce<T>(c, [&](const Group<T>& g) { return from_double<T>(f(g)); });
  });
}

// Floats add up term(x) in double, integers with wrap-around.
template <class Term>
Status reduce_sum(KernelContext& c, Term term) {
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return reduce<T>(c, [&](const Group<T>& g) {
      Wide<T> sum{};
      for_each(g, [&](size_t i) {
        if constexpr (is_float_element<T>)
          sum += term(g.number(i));
        else
          sum = wrapping_add(sum, static_cast<T>(term(g.element(i))));
      });
      return narrow<T>(sum);
    });
  });
}

Status reduce_product(KernelContext& c) {
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return reduce<T>(c, [](const Group<T>& g) {
      Wide<T> product = 1;
      for_each(g, [&](size_t i) {
        if constexpr (is_float_element<T>)
          product *= g.number(i);
        else
          product = wrapping_multiply(product, g.element(i));
      });
      return narrow<T>(product);
    });
  });
}

// The lowest or highest number of a type, which is what an empty set gives.
template <class T>
Wide<T> limit(bool lowest) {
  if constexpr (is_float_element<T>)
    return lowest ? -HUGE_VAL : HUGE_VAL;
  else
    return lowest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
}

// NaN wins.
template <bool kLargest>
Status reduce_extreme(KernelContext& c) {
  auto run = [&](auto tag) {
    using T = typename decltype(tag)::type;
    return reduce<T>(c, [](const Group<T>& g) {
      Wide<T> best = limit<T>(kLargest);
      for_each(g, [&](size_t i) {
        const Wide<T> x = widen(g.element(i));
        if (best == best && ((kLargest ? x > best : x < best) || x != x)) best = x;
      });
      return narrow<T>(best);
    });
  };
  return c.out(0).dtype == DType::Bool ? run(TypeTag<bool>{}) : dispatch_numbers(c.out(0).dtype, run);
}

template <class T>
double sum_of(const Group<T>& g) {
  double sum = 0;
  for_each(g, [&](size_t i) { sum += g.number(i); });
  return sum;
}

template <class T>
double root_of_squares(const Group<T>& g) {
  double sum = 0;
  for_each(g, [&](size_t i) { sum += g.number(i) * g.number(i); });
  return std::sqrt(sum);
}

// Shifted by the largest finite element, so that nothing overflows.
template <class T>
double log_sum_exp(const Group<T>& g) {
  double shift = 0, sum = 0;
  bool found = false;
  for_each(g, [&](size_t i) {
    const double x = g.number(i);
    if (std::isfinite(x) && (!found || x > shift)) shift = x;
    found |= std::isfinite(x);
  });
  for_each(g, [&](size_t i) { sum += exact::exp(g.number(i) - shift); });
  return exact::log(sum) + shift;
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::ReduceSum>() {
  return [](KernelContext& c) { return reduce_sum(c, [](auto x) { return x; }); };
}

template <>
KernelFunction reference_kernel<OpId::ReduceSumSquare>() {
  return [](KernelContext& c) {
    return reduce_sum(c, [](auto x) {
      if constexpr (std::is_floating_point_v<decltype(x)>)
        return x * x;
      else
        return wrapping_multiply(x, x);
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::ReduceL1>() {
  return [](KernelContext& c) {
    return reduce_sum(c, [](auto x) {
      if constexpr (std::is_floating_point_v<decltype(x)>)
        return std::fabs(x);
      else
        return x < 0 ? wrapping_negate(x) : x;
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::ReduceL2>() {
  return [](KernelContext& c) { return reduce_numbers(c, [](const auto& g) { return root_of_squares(g); }); };
}

// The mean of nothing is NaN.
template <>
KernelFunction reference_kernel<OpId::ReduceMean>() {
  return [](KernelContext& c) {
    return reduce_numbers(c, [](const auto& g) { return sum_of(g) / static_cast<double>(g.size()); });
  };
}

template <>
KernelFunction reference_kernel<OpId::ReduceLogSum>() {
  return [](KernelContext& c) { return reduce_numbers(c, [](const auto& g) { return exact::log(sum_of(g)); }); };
}

template <>
KernelFunction reference_kernel<OpId::ReduceLogSumExp>() {
  return [](KernelContext& c) { return reduce_numbers(c, [](const auto& g) { return log_sum_exp(g); }); };
}

template <>
KernelFunction reference_kernel<OpId::ReduceProd>() {
  return reduce_product;
}

template <>
KernelFunction reference_kernel<OpId::ReduceMax>() {
  return reduce_extreme<true>;
}

template <>
KernelFunction reference_kernel<OpId::ReduceMin>() {
  return reduce_extreme<false>;
}

}  // namespace tenon
