#pragma once

#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"

// Loops that elementwise kernels share.
namespace tenon {

// out[i] = f(in[i]), in the wide type.
template <class T, class F>
void map_elements(KernelContext& c, F f) {
  auto in = c.in(0).as<T>();
  auto out = c.out(0).as<T>();
  WorkMeter meter;
  for (size_t i = 0; i < in.size(); ++i) {
    meter.spend();
    out[i] = narrow<T>(f(widen(in[i])));
  }
}

// The same for all float types.
template <class F>
Status map_floats(KernelContext& c, F f) {
  return dispatch_floats(c.out(0).dtype, [&](auto tag) {
    map_elements<typename decltype(tag)::type>(c, f);
    return Status();
  });
}

// out[i] = f(a[i], b[i]) with numpy broadcasting; f sees and returns elements.
template <class T, class R, class F>
void broadcast_elements(KernelContext& c, F f) {
  const TensorView &a = c.in(0), &b = c.in(1), &out = c.out(0);
  const T* x = static_cast<const T*>(a.data);
  const T* y = static_cast<const T*>(b.data);
  R* z = static_cast<R*>(out.data);
  for (Walker<2> w(out.dims, {broadcast_strides(a.dims, out.dims), broadcast_strides(b.dims, out.dims)}); w.more();
       w.next())
    z[w.position()] = f(x[w.at(0)], y[w.at(1)]);
}

// The same in the wide type.
template <class T, class F>
void broadcast_binary(KernelContext& c, F f) {
  broadcast_elements<T, T>(c, [&](const T& x, const T& y) { return narrow<T>(f(widen(x), widen(y))); });
}

// Two's-complement arithmetic without overflow.
template <class T>
T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class T>
T wrapping_subtract(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <class T>
T wrapping_multiply(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <class T>
T wrapping_negate(T a) {
  return wrapping_subtract(T{}, a);
}

}  // namespace tenon
