#include "ops/softmax.h"

#include <algorithm>

#include "base/exact_math.h"
#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// The elements along an axis, one every `step`.
template <class T>
struct SoftmaxLine {
  T* first;
  int64_t count, step;
  T& operator[](int64_t i) const { return first[i * step]; }
};

// Calls f(input line, output line) for every line along the axis; a scalar is a line of one.
template <class F>
Status for_each_line(KernelContext& c, F f) {
  const int64_t rank = std::max<int64_t>(c.in(0).rank(), 1), given = c.params<SoftmaxParams>().axis;
  const AxisSplit split(c.in(0).dims, given < 0 ? given + rank : given);
  return dispatch_floats(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = static_cast<const T*>(c.in(0).data);
    T* out = static_cast<T*>(c.out(0).data);
    if (c.in(0).size() == 0) return Status();
    for (int64_t o = 0; o < split.outer; ++o) {
      for (int64_t i = 0; i < split.inner; ++i) {
        const int64_t offset = o * split.extent * split.inner + i;
        f(SoftmaxLine<const T>{in + offset, split.extent, split.inner},
          SoftmaxLine<T>{out + offset, split.extent, split.inner});
      }
    }
    return Status();
  });
}

template <class T>
double largest(const SoftmaxLine<const T>& line) {
  double result = widen(line[0]);
  for_each_index(line.count, [&](int64_t i) { result = std::max(result, static_cast<double>(line[i])); });
  return result;
}

template <class T>
double sum_of_exponentials(const SoftmaxLine<const T>& line, double shift) {
  double sum = 0;
  for_each_index(line.count, [&](int64_t i) { sum += exact::exp(static_cast<double>(line[i]) - shift); });
  return sum;
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Softmax>() {
  return [](KernelContext& c) {
    return for_each_line(c, []<class T>(SoftmaxLine<const T> in, SoftmaxLine<T> out) {
      const double shift = largest(in), sum = sum_of_exponentials(in, shift);
      for_each_index(in.count, [&](int64_t i) { out[i] = narrow<T>(exact::exp(widen(in[i]) - shift) / sum); });
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::LogSoftmax>() {
  return [](KernelContext& c) {
    return for_each_line(c, []<class T>(SoftmaxLine<const T> in, SoftmaxLine<T> out) {
      const double shift = largest(in), log_sum = exact::log(sum_of_exponentials(in, shift));
      for_each_index(in.count, [&](int64_t i) { out[i] = narrow<T>(widen(in[i]) - shift - log_sum); });
    });
  };
}

template <>
KernelFunction reference_kernel<OpId::Hardmax>() {
  return [](KernelContext& c) {
    return for_each_line(c, []<class T>(SoftmaxLine<const T> in, SoftmaxLine<T> out) {
      int64_t best = 0;
      for_each_index(in.count, [&](int64_t i) {
        if (widen(in[i]) > widen(in[best])) best = i;
      });
      for_each_index(in.count, [&](int64_t i) { out[i] = narrow<T>(i == best ? 1 : 0); });
    });
  };
}

}  // namespace tenon
