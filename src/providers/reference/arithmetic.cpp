#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"

namespace tenon {

namespace {

// out[i] = f(a[i], b[i]) with numpy broadcasting.
template <class T, class F>
void broadcast_binary(KernelContext& c, F f) {
  const TensorView &a = c.in(0), &b = c.in(1), &out = c.out(0);
  const T* x = static_cast<const T*>(a.data);
  const T* y = static_cast<const T*>(b.data);
  T* z = static_cast<T*>(out.data);
  for (Walker<2> w(out.dims, {broadcast_strides(a.dims, out.dims), broadcast_strides(b.dims, out.dims)}); w.more();
       w.next())
    z[w.position()] = narrow<T>(f(widen(x[w.at(0)]), widen(y[w.at(1)])));
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Add>() {
  return [](KernelContext& c) -> Status {
    return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      broadcast_binary<T>(c, [](Wide<T> a, Wide<T> b) {
        if constexpr (std::is_integral_v<T>)
          return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
        else
          return a + b;
      });
      return Status();
    });
  };
}

}  // namespace tenon
